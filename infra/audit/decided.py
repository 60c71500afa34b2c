"""One partition of an archive, folded again for some users: what was decided, and where it stands.

Reading and matching only; the fold is processors/certification.py, comparing is certificates.py.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from infra.archive.frames import chain_leaves
from infra.archive.merkle import Tree, grow_tree, root_of
from infra.archive.reading import Archive, RecordedEvent
from infra.records import OUTCOME_TOPICS, read_output
from processors.certification import OUTCOMES, LoggedEvent, refold
from processors.decision import Outcome
from processors.view import Stamp
from schemas.codec import HEADER_BYTES, DecodeError, decode
from schemas.fate import Fate
from schemas.identity import prefix_lengths, record_key
from streams.authentication import RecordedCheck
from streams.failures import LogDamagedError
from streams.opening import ErasedEventError, Opener

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
    those of all frames, ``tree`` that of the blocks which they make. ``erased`` are record keys
    of whom an event was erased: their folding ends there.
    """

    partition: int
    decided: dict[Owner, list[Decided]] = field(default_factory=dict)
    recorded: dict[bytes, tuple[Any, int]] = field(default_factory=dict)
    frames: dict[tuple[str, str, int], int] = field(default_factory=dict)
    tenants: set[str] = field(default_factory=set)
    digests: list[bytes] = field(default_factory=list)
    erased: set[bytes] = field(default_factory=set)
    tree: Tree = ()


def refold_partition(archive: Archive, partition: int, wanted: Wanted, opener: Opener) -> Refolding:
    """Fold a partition again for these users, and prove all of it against the manifest's root.

    Raises:
        LogDamagedError: a frame, or the tree as a whole, is not what was archived.
        KeyStoreFailedError: the archive is sealed, and the key store holds neither key nor receipt.

    """
    found = Refolding(partition)
    _probe_keys(archive, partition, opener)
    current: list[RecordedEvent] = []

    def read() -> Iterator[LoggedEvent]:
        keys = {opener.key_of(*owner) for owner in wanted.owners} | {CONTROL_KEY}
        tenants = {prefix_lengths(t.encode()): t for t in {owner[0] for owner in wanted.owners}}
        for event in archive.history(partition):
            found.digests.extend(event.digests)
            current[:] = [event]
            key = event.record.key or b""
            # Sealed outputs of others are not opened for a certificate that names these users.
            if key in keys or not opener.hides:
                _note_recorded(found, event, wanted.outcome_ids, opener)
            for prefix, tenant in tenants.items():
                if key.startswith(prefix):
                    found.tenants.add(tenant)
            if key not in keys or key in found.erased:
                continue
            try:
                logged = open_event(event, partition, opener)
            except ErasedEventError:
                found.erased.add(key)
                continue
            if logged is not None:
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
        raise LogDamagedError(f"{archive.folder}: partition {partition} has another Merkle root")
    return found


def _probe_keys(archive: Archive, partition: int, opener: Opener) -> None:
    """Open one sealed record: under a foreign key store every user has another pseudonym."""
    if not opener.hides:
        return
    for event in archive.history(partition):
        if event.record.key != CONTROL_KEY:
            with suppress(DecodeError, ErasedEventError):
                opener.open(event.record)
                return


def open_event(event: RecordedEvent, partition: int, opener: Opener) -> LoggedEvent | None:
    """Return the event of an archived record, or None if it is none: it was rejected unread.

    Whether it was authentic is what its ledger has recorded (spec 1.3): keys are not at hand.

    Raises:
        ErasedEventError: its key was erased, so that nothing that rests on it folds again.
    """
    record = event.record
    try:
        opened, body, digest = opener.open(record)
    except DecodeError:
        return None
    if record.key != opener.key_of(opened.tenant, opened.user):
        return None
    check = RecordedCheck(lambda _: decode(Fate, event.fate))
    return LoggedEvent(
        opened,
        Stamp(
            digest=digest,
            append_ms=record.timestamp_ms,
            partition=partition,
            offset=record.offset,
            size=len(body),
            authentic=check.judge(opened, body, record.offset),
            key=record.key if opener.hides else None,
        ),
    )


def _note_recorded(
    found: Refolding, event: RecordedEvent, wanted: frozenset[bytes], opener: Opener
) -> None:
    for place, output in enumerate(event.outputs, 1):
        if output.topic not in OUTCOME_TOPICS:
            continue
        value = opener.unseal(output.value)
        if value is not None and value[_ID_AT] in wanted:
            record = read_output(output.topic, value)
            found.recorded[record.outcome_id] = (record, event.frame + place)
