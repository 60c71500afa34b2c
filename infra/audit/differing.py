"""Two evaluations held against each other, turn by turn: backfills, logs or archives (spec 7.3)."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from infra.audit.history import ArchiveSource, EmbeddedSource, Source
from infra.backfill.run import RUN_NAME, SUMMARY_NAME
from infra.backfill.tables import read_table
from infra.backfill.turns import Ending, describe_ending
from infra.records import OUTCOME_TOPICS, read_output

TurnKey = tuple[str, str, str]


class NothingToCompareError(ValueError):
    """A folder is neither a finished backfill nor a history; the message names the remedy."""


@dataclass(frozen=True, slots=True)
class TurnDifference:
    """A turn that ends otherwise; "" stands for a turn that one side lacks."""

    tenant: str
    user: str
    turn_id: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Differing:
    """How many turns both sides share, and those that differ, sorted."""

    turns: int
    same: int
    differences: tuple[TurnDifference, ...]

    def count_kinds(self) -> dict[str, int]:
        """Return how often each pair of endings occurs, without what was chosen."""
        pairs = Counter(
            f"{_shorten(one.first)} -> {_shorten(one.second)}" for one in self.differences
        )
        return dict(sorted(pairs.items()))


def compare_evaluations(first: Path, second: Path) -> Differing:
    """Return the turns that end otherwise in two evaluations of one kind or of two.

    Raises:
        NothingToCompareError: a folder holds neither tables, nor a log, nor an archive.
    """
    ours, theirs = read_endings(first), read_endings(second)
    differences = tuple(
        TurnDifference(*key, _label(ours.get(key)), _label(theirs.get(key)))
        for key in sorted(ours.keys() | theirs.keys())
        if _label(ours.get(key)) != _label(theirs.get(key))
    )
    shared = len(ours.keys() & theirs.keys())
    known = {(one.tenant, one.user, one.turn_id) for one in differences}
    same = sum(1 for key in ours.keys() & theirs.keys() if key not in known)
    return Differing(shared, same, differences)


def read_endings(folder: Path) -> dict[TurnKey, Ending]:
    """Return how every turn of a backfill, a log or an archive ends."""
    if (folder / RUN_NAME).is_file():
        if not (folder / SUMMARY_NAME).is_file():
            raise NothingToCompareError(f"{folder}: the backfill is not finished; run it again")
        columns = ("tenant", "user", "turn_id", "outcome", "reason", "chosen")
        rows = read_table(folder, "decisions").select(columns).iter_rows()
        return {row[:3]: Ending(*row[3:]) for row in rows}
    return _read_history(_find_source(folder))


def _find_source(folder: Path) -> Source:
    if (folder / "log").is_dir():
        return EmbeddedSource(folder)
    if (folder / "manifest.json").is_file():
        return ArchiveSource(folder)
    raise NothingToCompareError(
        f"{folder}: neither a backfill, nor a log, nor an archive; name the folder of one"
    )


def _read_history(source: Source) -> dict[TurnKey, Ending]:
    endings = {}
    with source() as history:
        opener = history.opener
        for partition in history.partitions:
            for recorded in history.recorded(partition):
                for output in recorded.outputs:
                    if output.topic in OUTCOME_TOPICS:
                        value = opener.unseal(output.value)
                        if value is None:
                            continue
                        outcome = read_output(output.topic, value)
                        key = (outcome.tenant, outcome.user, outcome.turn_id)
                        endings[key] = describe_ending(outcome)
    return endings


def _label(ending: Ending | None) -> str:
    return "" if ending is None else ending.label


def _shorten(label: str) -> str:
    return label.partition(" ")[0] or "(no such turn)"
