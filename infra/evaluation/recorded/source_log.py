"""The log of one evaluation of recorded data: told once, folded, and read by turn.

Imports are deterministic, so an interrupted one goes on at the log's end. What the data mean is
the importers' and the scorers' business.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from infra.appending import append_events
from infra.records import OUTCOME_TOPICS, read_output
from schemas.codec import digest
from schemas.event import Event
from schemas.outcome import Commitment, RepairAct, TurnFailure
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded

Outcome = Commitment | RepairAct | TurnFailure
Progress = Callable[[int, int], None]
"""Called with what is done and what is known to be left."""

PRIVATE: Final = "private"
MARK: Final = "source.json"
LOG: Final = "log"


class RecordedError(Exception):
    """An evaluation of recorded data cannot go on; the message names the remedy."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One outcome and where it stands on the log."""

    topic: str
    offset: int
    outcome: Outcome

    @property
    def certificate(self) -> str:
        """The digest of the outcome's certificate."""
        return digest(self.outcome.certificate).hex()


@dataclass(frozen=True, slots=True)
class SourceName:
    """What every row of every table begins with: the run, what it is a function of."""

    run_id: str
    source: str


def name_source(kind: str, paths: Sequence[Path], settings: Sequence[str] = ()) -> SourceName:
    """Return the name of an evaluation: a digest over the bytes of its files and its settings.

    Raises:
        RecordedError: a path does not exist.

    """
    found = hashlib.sha256(json.dumps([kind, sorted(settings)]).encode())
    for path in paths:
        if not path.exists():
            raise RecordedError(f"{path}: does not exist; name a file or folder of this format")
        files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        for file in files:
            found.update(hashlib.sha256(file.read_bytes()).digest())
    return SourceName(found.hexdigest()[:16], kind)


def begin_folder(out: Path, name: SourceName) -> Path:
    """Return the folder of the log; a folder with another evaluation is refused.

    Raises:
        RecordedError: it holds one of other data or settings.

    """
    private = out / PRIVATE
    mark = private / MARK
    text = json.dumps({"run_id": name.run_id, "source": name.source}) + "\n"
    if mark.exists() and mark.read_text("utf-8") != text:
        raise RecordedError(f"{out} holds an evaluation of other data: give another --out")
    private.mkdir(parents=True, exist_ok=True)
    mark.write_text(text, "utf-8")
    return private / LOG


def tell_and_fold(folder: Path, events: Iterable[Event], progress: Progress) -> None:
    """Bring a log to its end: events that it lacks are appended, then all is folded."""
    with Embedded(folder, CoreReducer()) as embedded:
        told = embedded.log.bounds().end
        append_events(embedded, islice(events, told, None), lambda done: progress(0, told + done))
        embedded.fold_pending(progress)


def read_outcomes(folder: Path) -> dict[str, Placed]:
    """Return the outcome of each turn with its place."""
    return {placed.outcome.turn_id: placed for placed in list_outcomes(folder)}


def list_outcomes(folder: Path) -> Iterator[Placed]:
    """Yield every outcome with its place, topic by topic; none is kept."""
    with Embedded(folder, CoreReducer()) as embedded:
        for topic in OUTCOME_TOPICS:
            for output in embedded.outputs(topic):
                record = read_output(topic, output.record.value or b"")
                yield Placed(topic, output.offset, record)


def name_act(outcome: Outcome) -> str:
    """Return what came of a turn in one word: commit, the repair act, or failure.

    A Clarify is told apart by what it asks: ``clarify_slot`` for values that are absent,
    ``clarify_confirm`` for values to confirm, ``clarify_held`` where what is lacking is held and
    only the candidate leaves it out.
    """
    if isinstance(outcome, Commitment):
        return "commit"
    if isinstance(outcome, TurnFailure):
        return "failure"
    asked = outcome.question
    if asked is None:
        return outcome.act.value
    if asked.slots:
        return "clarify_slot"
    return "clarify_confirm" if asked.options else "clarify_held"
