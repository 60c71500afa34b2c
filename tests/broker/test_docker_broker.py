"""Which broker is taken, a container or the jars, and how a container is run.

The engine is played by a script: what it is asked is checked, containers themselves are not run.
"""

from pathlib import Path

import pytest

from infra.broker import BrokerError
from infra.docker_broker import ContainerBroker, describe_container, docker_works, run_container


def _play(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Put a `docker` that notes its arguments before anything else on the path."""
    asked = folder / "asked"
    player = folder / "docker"
    player.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n{script}\n')
    player.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return asked


@pytest.mark.parametrize(
    ("script", "works"),
    [("echo 29.0", True), ("exit 1", False), ("echo; echo no daemon >&2; exit 0", False)],
)
def test_an_engine_counts_only_when_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, works
) -> None:
    """A client without a daemon is no engine: the jars are taken then."""
    _play(tmp_path, monkeypatch, script)

    assert works is docker_works()


def test_a_machine_without_docker_has_no_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing on the path, nothing asked."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert not docker_works()


def test_a_container_is_run_on_loopback_and_removed_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controls go through the engine by the container's id; the end removes its data."""
    asked = _play(tmp_path, monkeypatch, "echo id-1")
    monkeypatch.setattr("infra.docker_broker.answers", lambda _address: True)

    with run_container() as broker:
        broker.kill()
        broker.restart()
        broker.pause()
        broker.resume()
    lines = asked.read_text().splitlines()

    assert lines[0].startswith("run --detach --publish 127.0.0.1:")
    assert lines[0].endswith("apache/kafka:4.1.0")
    assert [
        "kill id-1",
        "restart --time 20 id-1",
        "pause id-1",
        "unpause id-1",
        "rm --force --volumes id-1",
    ] == lines[1:]
    with pytest.raises(BrokerError, match="docker logs"):
        ContainerBroker("127.0.0.1:1", container="id-1").home()


def test_a_container_gets_the_settings_of_the_jars() -> None:
    """Every property of the test broker is an environment variable of the image."""
    options = describe_container(9092)

    assert "KAFKA_PROCESS_ROLES=broker,controller" in options
    assert "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:9092" in options
    assert "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1" in options
