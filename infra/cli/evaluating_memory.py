"""The commands of the memory benchmark: evaluate precisionmembench, and its provider service."""

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from aiohttp import web

from infra.cli.console import CommandError, JsonOption, out, progress_bar, reported
from infra.cli.evaluating_recorded import show_findings, sources_named
from infra.evaluation.memory.arms import judge_structured, judge_text_only
from infra.evaluation.memory.beliefs import read_memory_sources
from infra.evaluation.memory.gating import judge_peers
from infra.evaluation.memory.provider import MemoryProvider
from infra.evaluation.memory.service import LOOPBACK, PORT, MemoryService
from infra.evaluation.memory.tables import NOTES, build_tables
from infra.evaluation.recorded.page import publish_recorded
from infra.evaluation.recorded.source_log import begin_folder, name_source


def register(evaluate: typer.Typer) -> None:
    """Add the commands to the group."""
    evaluate.command("precisionmembench", short_help="Retrieve beliefs; gate others.")(
        evaluate_memory
    )
    evaluate.command("serve-precisionmembench", short_help="Serve its provider contract.")(
        serve_memory
    )


def evaluate_memory(
    path: Annotated[
        Path,
        typer.Argument(help="Folder with beliefs, cases, recorded outputs.", show_default=False),
    ],
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for tables, report and logs.")
    ] = Path("evaluation-memory"),
    *,
    as_json: JsonOption = False,
) -> None:
    """Retrieve for every case, structured and from text alone, and gate what others returned.

    Example: commitments evaluate precisionmembench data/precisionmembench --out evaluation-memory
    """  # fmt: skip
    started = time.perf_counter()
    with reported(as_json=as_json), sources_named():
        sources = read_memory_sources(path)
        name = name_source("PrecisionMemBench", [path])
        logs = begin_folder(folder, name)
        logs.mkdir(parents=True, exist_ok=True)
        with progress_bar("structured arm", as_json=as_json) as update:
            rows = judge_structured(sources, logs / "structured", update)
        with (
            progress_bar("text-only arm", as_json=as_json) as update,
            tempfile.TemporaryDirectory(dir=logs) as texts,
        ):
            rows += judge_text_only(sources, Path(texts), update)
        with progress_bar("recorded systems behind LCV", as_json=as_json) as update:
            rows += judge_peers(sources, logs / "gated", update)
        tables = build_tables(rows, sources.peers)
        page = publish_recorded(folder, name, rows, tables, NOTES)
    summary = {row["arm"]: row for row in tables["arms"]}
    show_findings(name, summary, tables, page, time.perf_counter() - started, as_json=as_json)


def serve_memory(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = LOOPBACK,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port.")] = PORT,
    folder: Annotated[
        Path | None, typer.Option(help="Where logs are kept; default: gone at the end.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Serve POST /add, POST /search and DELETE /reset, so that the public harness can score us.

    Texts and users only, without authentication: on loopback unless told otherwise. In the
    harness, name any provider whose address is this one, with RESEED=true.

    Example: commitments evaluate serve-precisionmembench --port 8082
    """
    with reported(as_json=as_json), tempfile.TemporaryDirectory() as scratch:
        kept = Path(scratch) if folder is None else folder
        kept.mkdir(parents=True, exist_ok=True)
        service = MemoryService(MemoryProvider(kept))
        if not as_json:
            out.print(f"memory provider on http://{host}:{port}, Ctrl-C ends it")
        try:
            web.run_app(service.build(), host=host, port=port, print=None)
        except OSError as error:
            raise CommandError(
                f"--port {port}: {error.strerror or error}", "give another --port"
            ) from None
