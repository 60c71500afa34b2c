"""A Kafka broker in a container, where a Docker engine answers; the jars of infra/broker.py else.

The same settings and the same controls, so that the same tests run on it.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.broker import READY_TIMEOUT_S, Broker, BrokerError, answers, find_port
from infra.broker_properties import PROPERTIES

IMAGE: Final = "apache/kafka:4.1.0"
ASK_TIMEOUT_S: Final = 10.0
COMMAND_TIMEOUT_S: Final = 300.0  # The first run pulls the image.


def docker_works() -> bool:
    """Return whether a Docker engine answers; a client without one does not count."""
    if shutil.which("docker") is None:
        return False
    try:
        run = subprocess.run(
            ["docker", "info", "--format", "{{.ServerVersion}}"],  # noqa: S607  # as people run it
            capture_output=True, timeout=ASK_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0 and bool(run.stdout.strip())


@dataclass
class ContainerBroker(Broker):
    """A broker in a container of its own; it is killed and frozen through the engine."""

    container: str = ""

    def kill(self) -> None:
        """End the broker at once with SIGKILL; its data stay in the container."""
        _docker("kill", self.container)

    def restart(self) -> None:
        """Start the broker again on the same data and port, stopping it first when it runs."""
        _docker("restart", "--time", "20", self.container)
        self._await_answer()

    def pause(self) -> None:
        """Freeze the broker: connections stay open and nothing answers."""
        _docker("pause", self.container)

    def resume(self) -> None:
        """Let a frozen broker go on."""
        _docker("unpause", self.container)

    def stop(self) -> None:
        """Remove the container with its data."""
        _docker("rm", "--force", "--volumes", self.container)

    def home(self) -> Path:
        """Refuse: the data are in the container."""
        raise BrokerError(f"the data of container {self.container} are inside it: docker logs")

    def _await_answer(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not answers(self.bootstrap_servers):
            if time.monotonic() > deadline:
                raise BrokerError(f"container {self.container} does not answer: docker logs")
            time.sleep(0.2)


@contextmanager
def run_container() -> Iterator[ContainerBroker]:
    """Start a broker in a container on a free port of loopback; remove it at the end."""
    port = find_port()
    container = _docker("run", "--detach", *describe_container(port), IMAGE)
    broker = ContainerBroker(f"127.0.0.1:{port}", container=container)
    try:
        broker._await_answer()  # noqa: SLF001  # our own
        yield broker
    finally:
        broker.stop()


def describe_container(port: int) -> list[str]:
    """Return the options of `docker run` for a broker that answers on a port of loopback."""
    settings = PROPERTIES | {
        "listeners": f"PLAINTEXT://:{port},CONTROLLER://:9093",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.quorum.voters": "1@localhost:9093",
    }
    options = ["--publish", f"127.0.0.1:{port}:{port}"]
    for name, value in sorted(settings.items()):
        options += ["--env", f"KAFKA_{name.upper().replace('.', '_')}={value}"]
    return options


def _docker(*arguments: str) -> str:
    """Run the client and return what it printed."""
    run = subprocess.run(  # noqa: S603  # our own words only
        ["docker", *arguments],  # noqa: S607  # as people run it
        capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False,
    )  # fmt: skip
    if run.returncode != 0:
        raise BrokerError(f"docker {arguments[0]}: {run.stderr.strip()}")
    return run.stdout.strip()
