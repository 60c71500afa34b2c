"""One partition of an archive, folded again for some users: what was decided, and where it stands.

Reading and matching only; the fold is processors/certification.py, comparing is certificates.py.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from infra.archive.frames import chain_leaves
from infra.archive.merkle import Tree, grow_tree, root_of
from infra.archive.reading import Archive, RecordedEvent
from infra.records import OUTCOME_TOPICS, read_output
from processors.certification import OUTCOMES, LoggedEvent, refold
from processors.decision import Outcome
from processors.view import Stamp
from schemas.codec import HEADER_BYTES, DecodeError, decode, unframe
from schemas.event import Event
from schemas.fate import Fate
from schemas.identity import prefix_lengths, record_key
from streams.authentication import RecordedCheck
from streams.failures import LogDamaged

Owner = tuple[str, str]

CONTROL_KEY: Final = record_key("", "")
_ID_AT: Final = slice(HEADER_BYTES + 1, HEADER_BYTES + 33)
"""Where an outcome's id stands in its value: it is the first field, behind its length."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose outcomes are looked for: users, and the ids by which outcomes are named."""

    owners: frozenset[Owner]
    outcome_ids: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Decided:
    """An outcome that folding again gives, with the offset and frame of the deciding event."""

    outcome: Outcome
    offset: int
    frame: int


@dataclass(slots=True)
class Refolding:
    """What a partition holds of the users wanted.

    ``recorded`` are outcomes as archived, by id, with their frame; ``frames`` the frame of each
    accepted event by user and seq; ``tenants`` those of whom any event is there. ``digests`` are
    those of all frames, ``tree`` that of the blocks which they make.
    """

    partition: int
    decided: dict[Owner, list[Decided]] = field(default_factory=dict)
    recorded: dict[bytes, tuple[Any, int]] = field(default_factory=dict)
    frames: dict[tuple[str, str, int], int] = field(default_factory=dict)
    tenants: set[str] = field(default_factory=set)
    digests: list[bytes] = field(default_factory=list)
    tree: Tree = ()


def refold_partition(archive: Archive, partition: int, wanted: Wanted) -> Refolding:
    """Fold a partition again for these users, and prove all of it against the manifest's root.

    Raises:
        LogDamaged: a frame, or the tree as a whole, is not what was archived.

    """
    found = Refolding(partition)
    current: list[RecordedEvent] = []

    def read() -> Iterator[LoggedEvent]:
        keys = {record_key(*owner) for owner in wanted.owners} | {CONTROL_KEY}
        tenants = {prefix_lengths(t.encode()): t for t in {owner[0] for owner in wanted.owners}}
        for event in archive.history(partition):
            found.digests.extend(event.digests)
            current[:] = [event]
            _note_recorded(found, event, wanted.outcome_ids)
            key = event.record.key or b""
            for prefix, tenant in tenants.items():
                if key.startswith(prefix):
                    found.tenants.add(tenant)
            if key in keys and (logged := open_event(event, partition)) is not None:
                yield logged

    for refolded in refold(read(), wanted.owners):
        event, stamp = refolded.logged.event, refolded.logged.stamp
        owner, frame = (event.tenant, event.user), current[0].frame
        if refolded.step.fate.seq is not None:
            found.frames[*owner, refolded.step.fate.seq] = frame
        for output in refolded.step.outputs:
            if isinstance(output, OUTCOMES):
                decided = Decided(output, stamp.offset, frame)
                found.decided.setdefault(owner, []).append(decided)
    found.tree = grow_tree(chain_leaves(found.digests))
    if root_of(found.tree) != archive.entry(partition).root:
        raise LogDamaged(f"{archive.folder}: partition {partition} has another Merkle root")
    return found


def open_event(event: RecordedEvent, partition: int) -> LoggedEvent | None:
    """Return the event of an archived record, or None if it is none: it was rejected unread.

    Whether it was authentic is what its ledger has recorded (spec 1.3): keys are not at hand.
    """
    record = event.record
    try:
        opened, body = unframe(Event, record.value)
    except DecodeError:
        return None
    if record.key != record_key(opened.tenant, opened.user):
        return None
    check = RecordedCheck(lambda _: decode(Fate, event.fate))
    return LoggedEvent(
        opened,
        Stamp(
            digest=hashlib.sha256(body).digest(),
            append_ms=record.timestamp_ms,
            partition=partition,
            offset=record.offset,
            size=len(body),
            authentic=check.judge(opened, body, record.offset),
        ),
    )


def _note_recorded(found: Refolding, event: RecordedEvent, wanted: frozenset[bytes]) -> None:
    for place, output in enumerate(event.outputs, 1):
        if output.topic in OUTCOME_TOPICS and output.value[_ID_AT] in wanted:
            record = read_output(output.topic, output.value)
            found.recorded[record.outcome_id] = (record, event.frame + place)
