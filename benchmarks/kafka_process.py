"""One runtime as a process: started, killed, stopped, and what it cost."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUIX = ROOT / ".cache" / "quix"
MODULES = {
    "ours": ("ours", "exactly_once"),
    "faust-table": ("faust_table", "at_least_once"),
    "faust-table-eo": ("faust_table", "exactly_once"),
    "quixstreams-alo": ("quix", "at_least_once"),
    "quixstreams-eo": ("quix", "exactly_once"),
    "bare-loop": ("bare", "none"),
}
STOP_TIMEOUT_S = 30


class Runtime:
    """One runtime on one task; it can be killed and started again on the same folder."""

    def __init__(self, name, *, bootstrap, prefix, partitions, reducer, home):
        module, guarantee = MODULES[name]
        self.name = name
        self.output_prefix = prefix if name == "ours" else f"{prefix}{name}."
        self.folder = home / f"{prefix}{name}"
        self._log = home / f"{prefix}{name}.log"
        given = {
            "bootstrap": bootstrap, "prefix": prefix, "name": name, "partitions": partitions,
            "folder": self.folder, "reducer": reducer, "guarantee": guarantee,
        }  # fmt: skip
        options = [word for key, value in given.items() for word in (f"--{key}", str(value))]
        self._command = [sys.executable, "-m", f"benchmarks.kafka_runtimes.{module}", *options]
        self.cpu_s = self.peak_mib = 0.0
        self._process = None

    def start(self):
        """Start it, or start it again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = [str(QUIX)] if self.name.startswith("quix") else []
        words = os.pathsep.join([*paths, str(ROOT)])
        environment = dict(os.environ) | {"PYTHONPATH": words}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, cwd=ROOT, env=environment
            )

    @property
    def running(self):
        """Return whether the process has not ended."""
        return self._process is not None and not self._ended()

    def kill(self):
        """End it with SIGKILL, if it did not end by itself."""
        if self.running:
            self._process.send_signal(signal.SIGKILL)
            self._reap()

    def keep(self):
        """Start it again if it ended by itself, as whoever supervises it would."""
        if not self.running:
            self.start()
        return True

    def stop(self):
        """End it in order, or after a while anyhow."""
        if not self.running:
            return
        self._process.terminate()
        gives_up_at = time.monotonic() + STOP_TIMEOUT_S
        while time.monotonic() < gives_up_at and not self._ended():
            time.sleep(0.05)
        if not self._ended():
            self._process.send_signal(signal.SIGKILL)
            self._reap()

    def told(self, word):
        """Return what the process last printed behind a word, from JSON, or None."""
        lines = self._log.read_text(errors="replace").splitlines()
        found = [line for line in lines if line.startswith(word + " ")]
        return json.loads(found[-1].removeprefix(word)) if found else None

    def first(self):
        """Return what the process first printed when its first event came, or None."""
        for line in self._log.read_text(errors="replace").splitlines():
            if line.startswith("first "):
                return json.loads(line.removeprefix("first"))
        return None

    def tail(self):
        """Return the last lines of the process, for a failure."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-8:])

    def _ended(self):
        if self._process.returncode is not None:
            return True
        found, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if found:
            self._account(status, usage)
        return self._process.returncode is not None

    def _reap(self):
        _, status, usage = os.wait4(self._process.pid, 0)
        self._account(status, usage)

    def _account(self, status, usage):
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s += usage.ru_utime + usage.ru_stime
        self.peak_mib = max(self.peak_mib, usage.ru_maxrss / 1024)
