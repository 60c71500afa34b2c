"""Certificates checked against an archive: what outcomes state, and what folding again gives.

The archive is read once and only the users named are folded. Whoever finds a difference needs no
trust in this code: every event that a decision rests on comes with its proof of inclusion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from infra.archive.frames import BLOCK_FRAMES, START, hash_block
from infra.archive.merkle import is_included, prove_inclusion, root_of
from infra.archive.reading import Archive
from infra.audit.decided import Decided, Refolding, Wanted, refold_partition
from infra.audit.history import ArchivedHistory
from infra.audit.stated import Stated
from infra.event_json import render_record
from processors.certification import Difference, compare, find_nearest
from processors.decision import Outcome
from schemas.identity import outcome_id
from streams.opening import Opener

DIFFERENCES_MAX: Final = 20
"""One wrong name makes a whole record differ; the first differences tell enough."""

ERASED: Final = "events of this user were erased; what came after them cannot be folded again"


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The proof that a frame is in a partition's tree (RFC 6962); digests as hexadecimal.

    A frame's digest is the SHA-256 of its bytes; it stands among the ``digests`` of its block
    at the place ``frame`` modulo 32. The leaf is the SHA-256 over a zero byte, ``previous`` and
    those digests. ``index`` and ``size`` are those of the leaf in the tree.
    """

    what: str
    partition: int
    frame: int
    digests: tuple[str, ...]
    previous: str
    index: int
    size: int
    path: tuple[str, ...]
    root: str


@dataclass(frozen=True, slots=True)
class Checked:
    """One certificate: right when ``differences`` is empty; ``line`` is that of its file."""

    line: int
    tenant: str
    user: str
    turn_id: str
    differences: tuple[Difference, ...]
    inclusions: tuple[Inclusion, ...]


def check_certificates(archive: Archive, certificates: Sequence[Stated]) -> list[Checked]:
    """Return for each stated outcome how it differs from the archive's history, with proofs.

    Raises:
        LogDamagedError: the archive itself does not check.
        KeyStoreFailedError: the archive is sealed, and its key store is not at hand.

    """
    wanted = Wanted(
        owners=frozenset((stated.tenant, stated.user) for stated in certificates),
        outcome_ids=frozenset(stated.names.outcome_id for stated in certificates),
    )
    opener = ArchivedHistory(archive).opener
    parts = [refold_partition(archive, number, wanted, opener) for number in archive.partitions]
    return [_check(parts, stated, opener) for stated in certificates]


def _check(parts: Sequence[Refolding], stated: Stated, opener: Opener) -> Checked:
    key = opener.key_of(stated.tenant, stated.user)
    place = _find_decided(parts, stated)
    misnamed = _compare_names(parts, stated)
    inclusions: tuple[Inclusion, ...] = ()
    if misnamed:
        differences = misnamed
    elif any(key in part.erased for part in parts) and not _is_decided(place, stated):
        differences = (Difference("archive", "this outcome", ERASED),)
    elif place is None:
        differences = (_explain_absence(parts, stated),)
    else:
        part, decided = place
        differences = _compare(part, decided, stated)
        if not differences:
            inclusions = tuple(_prove(part, decided))
    names = (stated.tenant, stated.user, stated.names.turn_id)
    return Checked(stated.line, *names, differences[:DIFFERENCES_MAX], inclusions)


def _compare_names(parts: Sequence[Refolding], stated: Stated) -> tuple[Difference, ...]:
    """Compare with the recorded outcome of that id where the names do not make up the id."""
    names = stated.names
    expected = outcome_id(
        tenant=stated.tenant, user=stated.user, turn_id=names.turn_id, seq=names.seq
    )
    if expected != names.outcome_id:
        for part in parts:
            if names.outcome_id in part.recorded:
                recorded, _ = part.recorded[names.outcome_id]
                return tuple(compare(stated.data, render_record(recorded)))
    return ()


def _find_decided(parts: Sequence[Refolding], stated: Stated) -> tuple[Refolding, Decided] | None:
    for part in parts:
        candidates = part.decided.get((stated.tenant, stated.user), [])
        nearest = find_nearest([decided.outcome for decided in candidates], stated.names)
        for decided in candidates:
            if decided.outcome is nearest:
                return part, decided
    return None


def _is_decided(place: tuple[Refolding, Decided] | None, stated: Stated) -> bool:
    return place is not None and place[1].outcome.outcome_id == stated.names.outcome_id


def _explain_absence(parts: Sequence[Refolding], stated: Stated) -> Difference:
    owner = (stated.tenant, stated.user)
    if any(user == owner for part in parts for user in part.decided):
        return Difference("turn_id", stated.names.turn_id, "no turn of this user that ended so")
    if any(stated.tenant in part.tenants for part in parts):
        return Difference("user", stated.user, "no outcome of that user")
    return Difference("tenant", stated.tenant, "no event of that tenant")


def _compare(part: Refolding, decided: Decided, stated: Stated) -> tuple[Difference, ...]:
    differences = list(compare(stated.data, render_record(decided.outcome)))
    if stated.offset not in {None, decided.offset}:
        differences.insert(0, Difference("offset", str(stated.offset), str(decided.offset)))
    if not differences:
        recorded = part.recorded.get(decided.outcome.outcome_id)
        if recorded is None or recorded[0] != decided.outcome:
            found = "no such outcome" if recorded is None else "another outcome of this turn"
            differences.append(Difference("archive", "this outcome", found))
    return tuple(differences)


def _prove(part: Refolding, decided: Decided) -> Iterator[Inclusion]:
    """Prove the deciding event, the outcome as recorded, and every event that it rests on."""
    outcome: Outcome = decided.outcome
    wanted = [
        ("decided at", decided.frame),
        ("outcome", part.recorded[outcome.outcome_id][1]),
    ]
    for reference in outcome.certificate.rests_on:
        frame = part.frames[outcome.tenant, outcome.user, reference.seq]
        wanted.append((f"rests on {reference.event_id}", frame))
    for what, frame in wanted:
        yield _prove_frame(part, what, frame)


def _prove_frame(part: Refolding, what: str, frame: int) -> Inclusion:
    index = frame // BLOCK_FRAMES
    digests = part.digests[index * BLOCK_FRAMES : (index + 1) * BLOCK_FRAMES]
    leaves, root = part.tree[0], root_of(part.tree)
    previous, path = leaves[index - 1] if index else START, prove_inclusion(part.tree, index)
    leaf = hash_block(previous, digests)
    assert is_included(leaf, index=index, size=len(leaves), path=path, root=root)
    return Inclusion(
        what=what,
        partition=part.partition,
        frame=frame,
        digests=tuple(digest.hex() for digest in digests),
        previous=previous.hex(),
        index=index,
        size=len(leaves),
        path=tuple(step.hex() for step in path),
        root=root.hex(),
    )
