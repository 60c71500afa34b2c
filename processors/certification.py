"""An outcome checked against a history: fold the events again and compare what was decided.

Pure, and independent of any log, store or file: whoever holds a user's events and the control
records of the partition can tell whether a certificate is right, and where it is not. Nothing is
decided here; the rules are those of ``decision.step``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final, NamedTuple, TypeVar

from processors import decision
from processors.compilation.draft import owner_of
from processors.decision import Outcome
from processors.ruleset import UnknownRulesetError
from processors.view import Changes, Stamp, Step
from schemas.event import Event
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.row import KIND_OF, PARTITION_KINDS, Row

R = TypeVar("R")

OUTCOMES: Final = (Commitment, RepairAct, TurnFailure)
ABSENT: Final = "absent"
"""How a difference renders a field or an element that one side lacks."""
_SHARED: Final = frozenset(record for record, kind in KIND_OF.items() if kind in PARTITION_KINDS)


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """A record of the log that decoded to an event, with what its log knew of it."""

    event: Event
    stamp: Stamp


class Difference(NamedTuple):
    """One field that is not as folding again gives it; ``path`` is dotted, elements in brackets."""

    path: str
    stated: str
    found: str


class OutcomeNames(NamedTuple):
    """What names one outcome of a user; each of the three suffices while it is right."""

    outcome_id: bytes
    turn_id: str
    seq: int


class Refolded(NamedTuple):
    """What folding one record again gave."""

    logged: LoggedEvent
    step: Step


def refold(
    history: Iterable[LoggedEvent], owners: frozenset[tuple[str, str]]
) -> Iterator[Refolded]:
    """Fold the control records and the events of these (tenant, user) again, in log order.

    Of one partition at a time; other users' events are passed over, since none depends on them.

    Raises:
        UnknownRulesetError: the history has activated rules that this build lacks.

    """
    rows = _Rows()
    for logged in history:
        owner = owner_of(logged.event)
        if owner != ("", "") and owner not in owners:
            continue
        view = _RowView(*owner, rows)
        try:
            step = decision.step(view, logged.event, logged.stamp)
        except (UnknownRulesetError, MemoryError):
            raise
        except Exception as error:
            step = decision.fault(view, logged.event, logged.stamp, type(error).__name__)
        rows.apply(owner, step.changes)
        yield Refolded(logged, step)


def check_outcome(history: Iterable[LoggedEvent], outcome: Outcome) -> tuple[Difference, ...]:
    """Return how an outcome differs from what its user's history gives; () when it is right.

    The fold of that user, Z*, every violation vector and the act are computed again; each field
    of the record that is not as computed is named, the first one first.
    """
    owner = (outcome.tenant, outcome.user)
    found: list[Outcome] = []
    known = False
    for refolded in refold(history, frozenset({owner})):
        known = known or owner_of(refolded.logged.event) == owner
        found += [output for output in refolded.step.outputs if isinstance(output, OUTCOMES)]
    if not known:
        return (Difference("user", f"{outcome.tenant}/{outcome.user}", "no event of that user"),)
    names = OutcomeNames(outcome.outcome_id, outcome.turn_id, outcome.seq)
    nearest = find_nearest(found, names)
    if nearest is None:
        return (Difference("turn_id", outcome.turn_id, "no turn that ended so"),)
    return tuple(compare(outcome, nearest))


def find_nearest(found: Sequence[Outcome], names: OutcomeNames) -> Outcome | None:
    """Return the outcome that most of these names name, of one user's; position counts most."""

    def count(outcome: Outcome) -> int:
        return (
            2 * (outcome.outcome_id == names.outcome_id)
            + (outcome.turn_id == names.turn_id)
            + (outcome.seq == names.seq)
        )

    nearest = max(found, key=count, default=None)
    return nearest if nearest is not None and count(nearest) else None


def compare(stated: Any, found: Any, path: str = "") -> Iterator[Difference]:
    """Yield where two structures differ, in the order of their fields.

    Both are records, or plain JSON; types count, so that 1 is neither 1.0 nor true. A symbol is
    its text.
    """
    if _kind_of(stated) is not _kind_of(found):
        yield Difference(path or "type", _render(stated), _render(found))
    elif is_dataclass(stated):
        for part in fields(stated):
            here, there = getattr(stated, part.name), getattr(found, part.name)
            yield from compare(here, there, _join(path, part.name))
    elif isinstance(stated, Mapping):
        for name in [*stated, *(name for name in found if name not in stated)]:
            here, there = stated.get(name, _NOTHING), found.get(name, _NOTHING)
            yield from compare(here, there, _join(path, str(name)))
    elif isinstance(stated, list | tuple):
        for place in range(max(len(stated), len(found))):
            here = stated[place] if place < len(stated) else _NOTHING
            there = found[place] if place < len(found) else _NOTHING
            yield from compare(here, there, f"{path}[{place}]")
    elif stated != found:
        yield Difference(path, _render(stated), _render(found))


def _kind_of(data: Any) -> type:
    return str if isinstance(data, str) else type(data)


@dataclass(frozen=True, slots=True)
class _Nothing:
    """Stands where one side has no such field or element."""


_NOTHING: Final = _Nothing()


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _render(data: Any) -> str:
    if isinstance(data, _Nothing):
        return ABSENT
    if isinstance(data, bytes):
        return data.hex()
    if is_dataclass(data):
        return type(data).__name__
    return str(data)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of users and of the partition, by class and owner."""

    own: dict[tuple[str, str, type], dict[str, Row]] = field(default_factory=dict)
    shared: dict[type, dict[str, Row]] = field(default_factory=dict)

    def table(self, owner: tuple[str, str], record: type) -> dict[str, Row]:
        if record in _SHARED:
            return self.shared.setdefault(record, {})
        return self.own.setdefault((*owner, record), {})

    def apply(self, owner: tuple[str, str], changes: Changes) -> None:
        for (record, row_id), row in changes.items():
            table = self.table(owner, record)
            if row is None:
                table.pop(row_id, None)
            else:
                table[row_id] = row


@dataclass(frozen=True, slots=True)
class _RowView:
    """The view of one user over them."""

    tenant: str
    user: str
    rows: _Rows

    def get(self, record: type[R], row_id: str) -> R | None:
        return self.rows.table((self.tenant, self.user), record).get(row_id)  # type: ignore[return-value]

    def scan(self, record: type[R], prefix: str = "") -> Sequence[tuple[str, R]]:
        table = self.rows.table((self.tenant, self.user), record)
        found = [(row_id, row) for row_id, row in table.items() if row_id.startswith(prefix)]
        return sorted(found, key=lambda item: item[0])  # type: ignore[arg-type]
