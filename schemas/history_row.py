"""Rows of one user's history: the head, what was seen, events that bear evidence, statements.

They are rows like those of ``row``, which names and numbers them all.
"""

from dataclasses import dataclass
from typing import Any

from schemas.candidate import SlotValue
from schemas.catalogue import Authority
from schemas.event import Event
from schemas.observation import HintKind
from schemas.value import Value


@dataclass(frozen=True, slots=True)
class UserHead:
    """One per user: all that folding an observation must know; its size does not grow.

    ``chain`` is the digest chain. ``units`` counts the units of event rows, ``texts`` those that
    are plain utterances, ``hints`` the hint statements; every plain utterance below
    ``oldest_text_seq`` has left (spec 6.2). ``text_places`` are the places of those in the block of
    seqs ``text_block``, the last that has any; earlier blocks have their TextsRow.
    ``recent_ids`` are the event ids not yet moved to an OrderRow, NUL between them. ``foreseen``
    counts withdrawn event ids that have not arrived; all up to ``erased_seq`` was erased with the
    user.
    """

    seq: int
    effective_ms: int
    chain: bytes
    contract_version: int
    predicates: int
    pending_turns: int
    units: int
    texts: int
    hints: int
    oldest_text_seq: int
    text_block: int
    text_places: bytes
    recent_ids: str
    oldest_order: int
    foreseen: int
    erased_seq: int
    halted: bool


@dataclass(frozen=True, slots=True)
class SeenRow:
    """An accepted event id (row id): digest of its body, seq, effective time; for duplicates."""

    digest: bytes
    seq: int
    effective_ms: int


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A block of event ids in seq order (row id: first seq); tells which SeenRows to drop.

    An id that was used again since is "" here. ``effective_ms`` is that of the last event.
    """

    event_ids: tuple[str, ...]
    effective_ms: int


@dataclass(frozen=True, slots=True)
class TextsRow:
    """Which seqs of a block (row id: its number) are plain utterances, a byte for each place.

    A block is as many seqs as ``processors.limits.TEXT_BLOCK``; places ascend.
    """

    places: bytes


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The greatest ``source_seq`` accepted of one source (row id)."""

    source_seq: int


class Remembering:
    """Gives a record one place beside its fields for what is derived from it alone.

    It is no part of the record: neither encoded, compared nor shown, and gone with the object.
    """

    __slots__ = ("derived",)

    derived: Any


@dataclass(frozen=True, slots=True)
class EventRow(Remembering):
    """An event that bears units or statements (row id its seq), as it came, and when it counts.

    Its Avro body is digest and effective time followed by the event's own bytes, so storing it
    encodes nothing.
    """

    digest: bytes
    effective_ms: int
    event: Event


@dataclass(frozen=True, slots=True)
class Standing:
    """One statement that may still win its slot, now or once another one ends."""

    value: Value
    authority: Authority
    event_id: str
    seq: int
    valid_from_ms: int
    valid_to_ms: int | None


@dataclass(frozen=True, slots=True)
class SlotRow:
    """The statement in force of one (subject, slot); row id ``subject NUL slot``.

    ``standings`` holds every statement that may still win, in seq order, or nothing when the one
    in force is the only one.
    """

    subject: str
    slot: str
    value: Value
    authority: Authority
    event_id: str
    seq: int
    valid_from_ms: int
    valid_to_ms: int | None
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement of an event that has no EventRow: a hint, or a user's answer to a question.

    Row id ``seq NUL index``; ``kind`` is slot or preference, ``confidence`` in millionths. An
    answer bears a unit, a hint none; ``digest`` is that of the event's body.
    """

    kind: HintKind
    subject: str
    slot: str
    value: Value
    authority: Authority
    confidence: int
    event_id: str
    digest: bytes
    effective_ms: int


@dataclass(frozen=True, slots=True)
class ConsequenceRow:
    """Statements that a commitment made true; row id its seq (u_{t+1} = U(u_t, a*, x))."""

    commitment_id: str
    event_id: str
    effective_ms: int
    subject: str
    slots: tuple[SlotValue, ...]


@dataclass(frozen=True, slots=True)
class WithdrawnRow:
    """An event id (row id) whose units and slots are out of force, for ever, since ``by_seq``.

    ``seq`` is that of the event, None as long as it has not arrived.
    """

    by_seq: int
    effective_ms: int
    seq: int | None


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """Row id ``source event id NUL seq``: the event of that seq is derived from the source.

    ``authority`` is the lowest of the event's sources, the most that it can be worth.
    """

    event_id: str
    seq: int
    authority: Authority


@dataclass(frozen=True, slots=True)
class TouchRow:
    """The last seq at which something about a subject's slot or a proposal changed."""

    seq: int


@dataclass(frozen=True, slots=True)
class ActivationRow:
    """The unit ids of Z* of the last two turns, for the overpersonalisation term."""

    last: tuple[str, ...]
    before: tuple[str, ...]
