"""A real schema registry for tests and development, without Docker: Apicurio, in memory.

`python -m infra.registry_server` runs one in the foreground. Its content ends with it.
"""

import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from infra.broker import find_port
from infra.kafka_jars import CACHE_DEFAULT, JarsMissingError, resolve_jars

POM: Final = Path(__file__).parent / "apicurio" / "pom.xml"
CACHE: Final = CACHE_DEFAULT.parent / "apicurio"
READY_TIMEOUT_S: Final = 120.0
STOP_TIMEOUT_S: Final = 20.0
PATH: Final = "/apis/ccompat/v7"


class RegistryServerError(Exception):
    """The registry did not start; the message holds the end of its log."""


@contextmanager
def open_registry(port: int | None = None) -> Iterator[str]:
    """Start a registry and yield the URL of its Confluent-compatible interface; then stop it."""
    home = _unpack()
    place = find_port() if port is None else port
    url = f"http://127.0.0.1:{place}{PATH}"
    with tempfile.TemporaryDirectory(prefix="commitments-registry-") as scratch:
        log = Path(scratch) / "registry.log"
        process = _launch(home, place, log)
        try:
            _await_ready(process, url, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(STOP_TIMEOUT_S)


def _unpack() -> Path:
    """Return the unpacked distribution, taking it from Maven when it is not there yet."""
    folder = resolve_jars(cache=CACHE, pom=POM)
    home = folder / "app"
    if home.is_dir():
        return home
    (archive,) = folder.glob("*.tar.gz")
    partial = Path(tempfile.mkdtemp(dir=folder, prefix=".partial-"))
    with tarfile.open(archive) as content:
        content.extractall(partial, filter="data")
    try:
        partial.rename(home)
    except OSError:  # Another process was faster; its folder is as good as ours.
        shutil.rmtree(partial, ignore_errors=True)
    return home


def _launch(home: Path, port: int, log: Path) -> subprocess.Popen[bytes]:
    (jar,) = home.glob("*-runner.jar")
    leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    with log.open("wb") as out:
        return subprocess.Popen(  # noqa: S603  # our own words and paths only
            [*leash, "java", "-Xmx512m", "-Dquarkus.http.host=127.0.0.1",
             f"-Dquarkus.http.port={port}", "-jar", str(jar)],
            stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def _await_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{url}/subjects", timeout=2).close()  # noqa: S310  # loopback
        except OSError:
            time.sleep(0.3)
        else:
            return
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-25:])
    raise RegistryServerError(f"the schema registry did not start:\n{tail}")


def _main() -> int:
    try:
        with open_registry(8081) as url:
            sys.stdout.write(f"export COMMITMENTS_KAFKA_REGISTRY={url}\n")
            sys.stdout.flush()
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except (RegistryServerError, JarsMissingError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
