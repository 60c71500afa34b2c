"""The command that serves: one role of the distributed mode, in one or several processes."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from typing import Annotated, Any

import typer

from infra.cli.console import CommandError, JsonOption, err, reported
from infra.cli.gateway import serve_gateway
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from infra.extraction.kafka_service import serve_extractor
from infra.generation.kafka_service import serve_generator
from infra.kafka_settings import KafkaSettings
from infra.logs import configure_logs
from infra.opening import open_topics
from infra.reducers import build_topics_reducer
from infra.serving import NotProvisionedError, ServeSettings, serve

RESTART_EXIT = 75
RESTART_PAUSE_S = 1.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve_role)


def serve_role(
    role: Annotated[
        str, typer.Option(help="ledger folds; or gateway, extractor, generator.")
    ] = "ledger",
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes on this machine.")] = 1,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    partitions: Annotated[int | None, typer.Option(min=1, help="As provisioned.")] = None,
    replication: Annotated[int | None, typer.Option(min=1, help="As provisioned.")] = None,
    insync_min: Annotated[int | None, typer.Option(min=1, help="As provisioned.")] = None,
    folder: Annotated[str | None, typer.Option(help="Local rows; one folder a process.")] = None,
    metrics_port: Annotated[int | None, typer.Option(help="Metrics and health; off if unset.")] = (
        None
    ),
    *,
    as_json: JsonOption = False,
) -> None:
    """Serve a role until SIGTERM or SIGINT; exits 75 to be started again, 78 to be configured.

    Example: commitments serve --role ledger --workers 2 --bootstrap 127.0.0.1:9092
    """
    with reported(as_json=as_json):
        if role not in _RUN:
            raise CommandError(f"--role: {role} is none of {', '.join(_RUN)}")
        given = {
            "bootstrap": bootstrap, "prefix": prefix, "partitions": partitions,
            "replication": replication, "insync_min": insync_min, "folder": folder,
            "metrics_port": metrics_port,
        }  # fmt: skip
        settings = read_settings(**given)
        if workers > 1:
            raise typer.Exit(_supervise(workers, role, given))
        configure_logs(log_format="json", level="info")
        try:
            code = _RUN[role](settings)
        except NotProvisionedError as error:
            raise CommandError(
                str(error),
                "run commitments provision, and give both the same --partitions, --replication and "
                "--insync-min (or COMMITMENTS_KAFKA_PARTITIONS, _REPLICATION and _INSYNC_MIN)",
            ) from None
    raise typer.Exit(code)


def _serve_ledger(settings: KafkaSettings) -> int:
    connection = settings.connect()
    opener = open_topics(connection, prefix=settings.prefix)
    return serve(
        ServeSettings(
            connection=connection,
            folder=settings.folder,
            prefix=settings.prefix,
            partitions=settings.partitions,
            replication=settings.replication,
            insync_min=settings.insync_min,
            session_timeout_s=settings.session_timeout_s,
            instance_id=settings.instance_id,
            metrics_host=settings.metrics_host,
            metrics_port=settings.metrics_port,
            opener=opener,
        ),
        build_reducer=partial(build_topics_reducer, opener=opener),
    )


_RUN = {
    "ledger": _serve_ledger,
    "gateway": serve_gateway,
    "extractor": serve_extractor,
    "generator": serve_generator,
}


def _supervise(workers: int, role: str, given: dict[str, Any]) -> int:
    """Run so many processes of the role; start one again when it asks for it (exit 75)."""
    command = [sys.executable, "-m", "infra.cli.main", "serve", "--role", role]
    for name, value in given.items():
        if value is not None and name not in {"folder", "metrics_port"}:
            command += [f"--{name.replace('_', '-')}", str(value)]
    base = given["folder"] or str(read_settings().folder)
    port = given["metrics_port"]

    def start(number: int) -> subprocess.Popen[bytes]:
        own = [*command, "--folder", os.path.join(base, f"worker-{number}")]  # noqa: PTH118
        own += ["--metrics-port", str(port + number)] if port is not None else []
        return subprocess.Popen(own)  # noqa: S603 - our own command

    running = {number: start(number) for number in range(workers)}
    stopping: list[int] = []
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda number, _frame: stopping.append(number))
    worst = 0
    while running:
        time.sleep(0.2)
        if stopping:
            for process in running.values():
                process.terminate()
            stopping.clear()
            return max(worst, *(abs(process.wait()) for process in running.values()))
        for number, process in list(running.items()):
            code = process.poll()
            if code == RESTART_EXIT or (code is not None and code < 0):
                err.print(f"worker {number} ended with {code}; started again")
                time.sleep(RESTART_PAUSE_S)
                running[number] = start(number)
            elif code is not None:
                err.print(f"worker {number} ended with {code}")
                worst = max(worst, code)
                del running[number]
    return worst
