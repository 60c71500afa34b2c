"""docker-compose.yml without a Docker engine: its form, and every command line of ours for real.

The images of others (broker, registry, Prometheus, Grafana) cannot run without an engine: of them
only what the file and their settings say is checked. Apicurio itself runs in `make registry`.
"""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from infra.broker import Broker, find_port
from tests.broker.workers import await_true

ROOT = Path(__file__).parents[2]
ENTRY = (sys.executable, "-m", "infra.cli.main")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Build(_Strict):
    context: str
    dockerfile: str


class _Check(_Strict):
    test: list[str]
    interval: str
    timeout: str
    retries: int


class _Condition(_Strict):
    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class _Service(_Strict):
    """The part of the Compose Specification that the file uses, with its own types."""

    image: str
    build: _Build | None = None
    command: list[str] | None = None
    environment: dict[str, str] = {}
    restart: Literal["no", "always", "on-failure", "unless-stopped"] | None = None
    volumes: list[str] = []
    ports: list[str] = []
    healthcheck: _Check | None = None
    depends_on: dict[str, _Condition] | list[str] = {}


def _load() -> tuple[dict[str, _Service], dict[str, Any]]:
    content = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    own = [name for name in content if not name.startswith("x-")]
    assert ["services", "volumes"] == own
    services = {name: _Service(**told) for name, told in content["services"].items()}
    return services, content["volumes"]


@contextmanager
def _containers(
    services: dict[str, _Service], broker: Broker, prefix: str, folder: Path, ports: dict[str, int]
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Start every serving container of ours as a process; end each in order afterwards."""
    running = {}
    try:
        for name, service in services.items():
            if service.command and service.command[0] == "serve":
                place = _place(service, broker, prefix, folder / name, ports.get(name))
                with (folder / f"{name}.log").open("wb") as log:
                    running[name] = subprocess.Popen(
                        [*ENTRY, *service.command], env=place, stdout=log, stderr=log
                    )
        yield running
    finally:
        for process in running.values():
            process.terminate()
        codes = {name: process.wait(20) for name, process in running.items()}
        assert dict.fromkeys(running, 0) == codes


def _place(
    service: _Service, broker: Broker, prefix: str, rows: Path, port: int | None
) -> dict[str, str]:
    """Return a container's environment with the addresses and folders of this machine."""
    changed = {
        "COMMITMENTS_KAFKA_BOOTSTRAP": broker.bootstrap_servers,
        "COMMITMENTS_KAFKA_PREFIX": prefix,
        "COMMITMENTS_KAFKA_FOLDER": str(rows),
        "COMMITMENTS_KAFKA_PARTITIONS": "2",
        "COMMITMENTS_KAFKA_METRICS_PORT": str(port or find_port()),
    }
    assert changed.keys() - {"COMMITMENTS_KAFKA_PREFIX"} <= service.environment.keys()
    return dict(os.environ) | service.environment | changed


def test_the_file_is_a_compose_file_and_names_only_what_it_has() -> None:
    """Each service has the form of the specification; volumes, files and dependencies exist."""
    services, volumes = _load()

    expected = ["broker", "provision", "worker-1", "worker-2", "generator", "registry"]
    assert [*expected, "prometheus", "grafana"] == list(services)
    for service in services.values():
        assert set(service.depends_on) <= services.keys()
        for mount in service.volumes:
            source = mount.split(":")[0]
            assert source in volumes or (ROOT / source).exists(), mount
        for port in service.ports:
            assert port.startswith("127.0.0.1:"), "nothing is published beyond loopback"
        if service.build is not None:
            assert (ROOT / service.build.dockerfile).is_file()


def test_what_prometheus_scrapes_and_grafana_shows_is_there() -> None:
    """Targets are the workers at their metrics port; the dashboard's series are ours."""
    services, _ = _load()
    scraped = yaml.safe_load((ROOT / "infra/docker/prometheus.yml").read_text("utf-8"))
    (job,) = scraped["scrape_configs"]
    workers = [name for name, told in services.items() if "ledger" in (told.command or ())]
    port = services["worker-1"].environment["COMMITMENTS_KAFKA_METRICS_PORT"]
    board = json.loads((ROOT / "infra/dashboards/commitments.json").read_text("utf-8"))

    (group,) = job["static_configs"]
    assert [f"{name}:{port}" for name in workers] == group["targets"]
    expressions = [t["expr"] for panel in board["panels"] for t in panel.get("targets", ())]
    assert expressions
    assert all("commitments_" in expression for expression in expressions)


def test_every_command_line_of_ours_runs(broker: Broker, prefix: str, tmp_path: Path) -> None:
    """Provisioned first; then both workers become ready, the generator joins, and all end well."""
    services, _ = _load()
    provision = services["provision"]
    done = subprocess.run(
        [*ENTRY, *(provision.command or ())],
        env=_place(provision, broker, prefix, tmp_path, None),
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    ports = {name: find_port() for name in ("worker-1", "worker-2")}

    with _containers(services, broker, prefix, tmp_path, ports) as running:
        assert ["worker-1", "worker-2", "generator"] == list(running)

        def ready() -> bool:
            assert all(process.poll() is None for process in running.values())
            pages = [_read(port) for port in ports.values()]
            return all('"phase": "folding"' in page for page in pages)

        await_true(ready, timeout_s=90, what="each worker folds a partition")
        generator = tmp_path / "generator.log"
        await_true(lambda: running["generator"].poll() is None, timeout_s=5, what="it serves")
        assert "Traceback" not in generator.read_text()


def _read(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as page:
            return page.read().decode()
    except OSError:
        return ""
