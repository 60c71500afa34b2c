"""A real Kafka broker for tests and development, without Docker: one KRaft node on loopback.

Takes the broker that BOOTSTRAP_SERVERS names, else starts Apache Kafka from its jars on free ports
with its data in a temporary folder. `python -m infra.broker` runs one in the foreground.
"""

import argparse
import base64
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from infra.broker_properties import LOG4J, PROPERTIES
from infra.kafka_jars import JarsMissingError, resolve_jars

READY_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 20.0
HEAP_MAX = "-Xmx1g"
_NONE: Mapping[str, int] = {}
_NO_PROPERTIES: Mapping[str, str] = {}


class BrokerError(Exception):
    """The broker did not start, stopped by itself, or cannot be controlled."""


@dataclass
class Broker:
    """A broker at an address, and its process when it was started here.

    The controls (kill, pause, ...) belong to fault tests; a broker that was only joined refuses
    them, because it is not ours to break.
    """

    bootstrap_servers: str
    folder: Path | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def log_path(self) -> Path:
        """Return the file with everything that the broker printed."""
        return self.home() / "broker.log"

    def kill(self) -> None:
        """End the broker at once with SIGKILL; its data stay as they are."""
        process = self._running()
        process.send_signal(signal.SIGKILL)
        process.wait(STOP_TIMEOUT_S)

    def restart(self) -> None:
        """Start the broker again on the same data and ports, stopping it first when it runs."""
        if self.process is not None and self.process.poll() is None:
            self._end()
        self.process = _launch(self.home())
        self._await_ready()

    def pause(self) -> None:
        """Freeze the broker (SIGSTOP): connections stay open and nothing answers."""
        self._running().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen broker go on (SIGCONT)."""
        self._running().send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the broker in order when it was started here; a joined one is left alone."""
        if self.process is not None and self.process.poll() is None:
            self._end()

    def _end(self) -> None:
        process = self._running()
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_TIMEOUT_S)

    def home(self) -> Path:
        """Return the folder of a broker that was started here."""
        if self.folder is None:
            raise BrokerError(
                f"the broker at {self.bootstrap_servers} was not started here and cannot be "
                "stopped, killed or paused; unset BOOTSTRAP_SERVERS to run the fault tests"
            )
        return self.folder

    def _running(self) -> subprocess.Popen[bytes]:
        self.home()
        if self.process is None or self.process.poll() is not None:
            raise BrokerError(f"the broker at {self.bootstrap_servers} is not running")
        return self.process

    def _await_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process is not None and self.process.poll() is not None:
                raise BrokerError(self._failure(f"stopped with exit {self.process.returncode}"))
            if answers(self.bootstrap_servers):
                return
            time.sleep(0.2)
        raise BrokerError(self._failure(f"did not answer within {READY_TIMEOUT_S:.0f} s"))

    def _failure(self, what: str) -> str:
        tail = self.log_path.read_text(errors="replace").splitlines()[-25:]
        return f"the Kafka broker {what}; its log is {self.log_path}\n" + "\n".join(tail)


def start_broker(
    *,
    folder: Path | None = None,
    port: int | None = None,
    listeners: Mapping[str, int] = _NONE,
    properties: Mapping[str, str] = _NO_PROPERTIES,
) -> Broker:
    """Format a folder and start a broker on it; return when it answers.

    A folder that holds a formatted broker is started as it is, with its data and on its port.
    ``listeners`` are further ones on loopback, by protocol; ``properties`` configure them.
    """
    if shutil.which("java") is None:
        raise BrokerError(
            "no Kafka broker: `java` is not on the path. Install Java 17, or set "
            "BOOTSTRAP_SERVERS to a broker that runs already."
        )
    home = folder or Path(tempfile.mkdtemp(prefix="commitments-broker-"))
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "server.properties").exists():
        _format(home, port or find_port(), listeners, properties)
    broker = Broker(_address(home), home)
    broker.restart()
    return broker


@contextmanager
def open_broker(environment: Mapping[str, str]) -> Iterator[Broker]:
    """Join the broker of BOOTSTRAP_SERVERS, or start one and stop it at the end.

    Started is a container where a Docker engine answers, else Kafka from its jars. Its data folder
    is removed after a run without exception and kept, with the log, after another.
    """
    given = environment.get("BOOTSTRAP_SERVERS", "").strip()
    if given:
        if not answers(given):
            raise BrokerError(f"no broker answers at BOOTSTRAP_SERVERS={given}")
        yield Broker(given)
        return
    from infra.docker_broker import docker_works, run_container  # noqa: PLC0415  # it extends Broker

    if docker_works():
        with run_container() as container:
            yield container
        return
    broker = start_broker()
    try:
        yield broker
    finally:
        broker.stop()
    shutil.rmtree(broker.home(), ignore_errors=True)


def _format(
    home: Path, port: int, listeners: Mapping[str, int], further: Mapping[str, str]
) -> None:
    controller = find_port()
    served = ",".join(
        f"{protocol}://127.0.0.1:{place}"
        for protocol, place in {"PLAINTEXT": port, **listeners}.items()
    )
    properties = PROPERTIES | {
        "listeners": f"{served},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": served,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "log.dirs": str(home / "data"),
    }
    properties |= further
    (home / "log4j2.properties").write_text(LOG4J)
    draft = home / "server.properties.new"
    draft.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    # Kafka's ids are 16 bytes in URL-safe base64; a leading dash would read as an option.
    cluster = "A" + base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")[1:]
    command = [
        *_java(home),
        "kafka.tools.StorageTool",
        "format",
        "-t",
        cluster,
        "-c",
        str(draft),
    ]
    run = subprocess.run(  # noqa: S603  # our own words and paths only
        command, capture_output=True, text=True, timeout=120, check=False
    )
    if run.returncode != 0:
        raise BrokerError(f"kafka.tools.StorageTool failed:\n{run.stdout}{run.stderr}")
    draft.rename(home / "server.properties")


def _launch(home: Path) -> subprocess.Popen[bytes]:
    with (home / "broker.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603  # our own words and paths only
            [*_leash(), *_java(home), "kafka.Kafka", str(home / "server.properties")],
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


def _java(home: Path) -> list[str]:
    jars = resolve_jars()
    log4j = f"-Dlog4j2.configurationFile={home / 'log4j2.properties'}"
    return ["java", HEAP_MAX, "-Xms256m", log4j, "-cp", f"{jars}/*"]


def _leash() -> list[str]:
    """Have Linux end the broker with its starter: a test run that is killed leaves nothing."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def _address(home: Path) -> str:
    lines = (home / "server.properties").read_text().splitlines()
    advertised = next(line for line in lines if line.startswith("advertised.listeners="))
    return advertised.split("://", 1)[1].split(",", 1)[0]


def find_port() -> int:
    """Return a port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def answers(bootstrap_servers: str) -> bool:
    """Return whether a broker answers with metadata of a live node."""
    for address in bootstrap_servers.split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=2).close()
        except (OSError, ValueError):
            continue
        try:
            admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
            return bool(admin.list_topics(timeout=5).brokers)
        except KafkaException:  # a broker that starts up refuses in many ways
            return False
    return False


def _main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.broker", description=__doc__)
    parser.add_argument("--port", type=int, default=9092, help="port to listen on (loopback)")
    parser.add_argument("--data", type=Path, help="folder to keep; else data are temporary")
    options = parser.parse_args(arguments)
    try:
        broker = start_broker(folder=options.data, port=options.port)
    except (BrokerError, JarsMissingError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"export BOOTSTRAP_SERVERS={broker.bootstrap_servers}\n# {broker.log_path}\n")
    sys.stdout.flush()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        assert broker.process is not None
        return broker.process.wait()
    except KeyboardInterrupt:
        broker.stop()
        return 0
    finally:
        if options.data is None:
            shutil.rmtree(broker.log_path.parent, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
