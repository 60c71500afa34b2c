"""Files of the airline domain of tau-bench: recorded runs and the database they ran on.

What a row or a call means is not known here; only where it stands and what shape it has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.importers.sources import SourceError, find_file, pick, read_json

Rows = Mapping[str, Mapping[str, Any]]

_RUNS: Final = "gpt4o_runs.json"


@dataclass(frozen=True, slots=True)
class TauSources:
    """Recorded runs in file order, database tables by id, and the corrected tasks if any."""

    runs: tuple[Mapping[str, Any], ...]
    users: Rows
    reservations: Rows
    flights: Rows
    verified: tuple[Mapping[str, Any], ...]


def read_sources(folder: Path) -> TauSources:
    """Return the runs and tables of a folder.

    Raises:
        SourceError: a file is absent or does not have the shape.

    """
    path = find_file(folder, _RUNS)
    runs = read_json(path)
    if not isinstance(runs, list):
        raise SourceError(path, "no list of runs", "name a folder of recorded airline runs")
    for number, run in enumerate(runs):
        _check_run(run, f"{path}, run {number}")
    users, reservations, flights = (
        _read_table(folder, f"{name}.json") for name in ("users", "reservations", "flights")
    )
    return TauSources(
        runs=tuple(runs),
        users=users,
        reservations=reservations,
        flights=flights,
        verified=_read_verified(folder),
    )


def _read_table(folder: Path, name: str) -> Rows:
    path = find_file(folder, name)
    table = read_json(path)
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise SourceError(path, "no table of rows by id", "name the airline database")
    return table


def _read_verified(folder: Path) -> tuple[Mapping[str, Any], ...]:
    try:
        path = find_file(folder, "verified_tasks.json")
    except SourceError:
        return ()
    tasks = read_json(path)
    if not isinstance(tasks, list):
        raise SourceError(path, "no list of tasks", "name the corrected tasks, or remove it")
    for number, task in enumerate(tasks):
        place = f"{path}, task {number}"
        pick(pick(task, "evaluation_criteria", dict, place), "actions", list, place)
        pick(pick(task, "user_scenario", dict, place), "instructions", dict, place)
    return tuple(tasks)


def _check_run(run: Any, place: str) -> None:
    for field in ("task_id", "trial"):
        pick(run, field, int, place)
    task = pick(pick(run, "info", dict, place), "task", dict, place)
    pick(task, "user_id", str, place)
    pick(task, "instruction", str, place)
    for action in pick(task, "actions", list, place):
        pick(action, "name", str, place)
        pick(action, "kwargs", dict, place)
    for number, message in enumerate(pick(run, "traj", list, place)):
        pick(message, "role", str, f"{place}, message {number}")
