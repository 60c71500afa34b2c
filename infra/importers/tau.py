"""Recorded runs of the airline domain of tau-bench as a log, and labels beside it.

Each run is one user of tenant ``tau-airline``, for every run began from the same database. All
of it happens at the airline's own present, 2024-05-15 15:00 EST; events are a millisecond apart.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from infra.importers.envelope import Scribe, build_genesis
from infra.importers.tau_catalogue import build_catalogue
from infra.importers.tau_files import TauSources, read_sources
from infra.importers.tau_label import TauLabel, find_gold
from infra.importers.tau_run import Course, read_run
from infra.importers.tau_world import OFFSET_MIN, World
from schemas.event import Event

TENANT: Final = "tau-airline"
BEGIN_MS: Final = 1_715_803_200_000  # 2024-05-15T15:00-05:00.


def import_tau(folder: Path) -> Iterator[Event]:
    """Yield the events of all recorded runs of a folder, a genesis record first.

    Raises:
        SourceError: a file is absent or not as it should be.

    """
    yield from tell_runs(read_sources(folder))


def tell_runs(sources: TauSources) -> Iterator[Event]:
    """Yield the events of runs over their tables, a genesis record first."""
    yield build_genesis(TENANT, build_catalogue(), at_ms=BEGIN_MS, utc_offset_min=OFFSET_MIN)
    for run in sources.runs:
        for item in _walk(run, sources):
            if isinstance(item, Event):
                yield item


def label_tau(folder: Path) -> Iterator[TauLabel]:
    """Yield what is known of each turn that ``import_tau`` asks for, in order.

    Raises:
        SourceError: as ``import_tau``.

    """
    yield from label_runs(read_sources(folder))


def label_runs(sources: TauSources) -> Iterator[TauLabel]:
    """Yield what is known of each turn that ``tell_runs`` asks for, in order."""
    for run in sources.runs:
        for item in _walk(run, sources):
            if isinstance(item, TauLabel):
                yield item


def _walk(run: Mapping[str, Any], sources: TauSources) -> Iterator[Event | TauLabel]:
    user_id, task_id, trial = run["info"]["task"]["user_id"], run["task_id"], run["trial"]
    scribe = Scribe(
        TENANT, f"{user_id}.{task_id}.{trial}", at_ms=BEGIN_MS, utc_offset_min=OFFSET_MIN
    )
    scribe.move(f"{scribe.user}/rows", at_ms=BEGIN_MS)
    course = Course(
        scribe=scribe,
        world=World(sources, user_id),
        gold=find_gold(run, sources.verified),
        task_id=task_id,
        trial=trial,
    )
    yield from read_run(course, run["traj"])
