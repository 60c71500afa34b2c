"""Erasure, in the order that makes it final (spec 7.5), on whatever log.

The request is folded first, then the keys are destroyed, then the receipt is put on the log and
the rows are rewritten. On a plain log only the first step exists, and what it leaves is said.
"""

import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from infra.appending import append_events
from infra.audit.history import EmbeddedHistory, Recorded
from infra.authority import RecordedFates
from infra.records import OUTCOME_TOPICS, read_output
from schemas.codec import DecodeError, decode, unframe
from schemas.control import ErasureCompleted
from schemas.event import Event, HintExtracted, Principal, PrincipalKind
from schemas.fate import Fate, FateStatus
from schemas.identity import record_key
from schemas.observation import ErasureRequested
from schemas.sealed import SealedEvent
from schemas.turn import CandidatesProposed, SurfaceProposed
from streams.crash_points import reach
from streams.embedded import Embedded
from streams.opening import ErasedEventError, Opener
from streams.sealed_rows import name_rows
from streams.sealing import EVENT, PSEUDONYM, TURN, KeyStore, SealedOpener

WAIT_MS: Final = 600_000
CONTROL_KEY: Final = record_key("", "")


class ErasureError(ValueError):
    """An erasure was not begun or not accepted; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """What was erased: events with those derived from them, and turns that rest on them.

    ``receipt`` is "" on a plain log, where nothing is destroyed. ``kept`` names answers
    and phrasings of those turns: they stay, since they are events of their own.
    """

    tenant: str
    user: str
    events: int
    turns: int
    receipt: str
    kept: tuple[str, ...] = ()


class ErasableLog(Protocol):
    """The log that something is erased from."""

    @property
    def opener(self) -> Opener:
        """Return what reads it."""
        ...

    def tell(self, event: Event) -> str | None:
        """Append an event, wait until its ledgers passed it; None, or why it was rejected."""
        ...

    def recorded(self, tenant: str, user: str) -> Iterator[Recorded]:
        """Yield what is folded wherever a user's events stand, control records too."""
        ...

    def renewed_first(self, row_keys: Sequence[bytes]) -> Sequence[bytes]:
        """Return which keys of the user's rows are destroyed with those of the events."""
        ...

    def forget(self, pseudonym: bytes, row_keys: Sequence[bytes]) -> None:
        """Once the completion is folded: leave nothing of what rows said before."""
        ...


class EmbeddedErasable:
    """An embedded log: its rows stand in the clear, in files that are rewritten."""

    def __init__(self, embedded: Embedded) -> None:
        """Erase from this open log."""
        self._embedded = embedded
        self.opener = embedded.opener

    def tell(self, event: Event) -> str | None:
        """Append an event and fold up to it; None, or why it was rejected."""
        append_events(self._embedded, [event])
        offset = self._embedded.log.bounds().end - 1
        self._embedded.wait_for(offset, timeout_ms=WAIT_MS)
        with self._embedded.reading() as store:
            assert store is not None, "the event is folded"
            fate = RecordedFates(store).find(offset)
        if fate is not None and fate.status is FateStatus.ACCEPTED:
            return None
        return "" if fate is None or fate.reason is None else fate.reason.value

    def recorded(self, tenant: str, user: str) -> Iterator[Recorded]:
        """Yield all that is folded."""
        del tenant, user
        return EmbeddedHistory(self._embedded).recorded(0)

    def renewed_first(self, row_keys: Sequence[bytes]) -> Sequence[bytes]:
        """Return all: only the public copies stand under them."""
        return row_keys

    def forget(self, pseudonym: bytes, row_keys: Sequence[bytes]) -> None:
        """Rewrite the files of the row store."""
        del pseudonym, row_keys
        self._embedded.compact()
        reach("rows_compacted")


@dataclass(slots=True)
class _Found:
    """What the log holds of a user: keys of events with their seqs, names of turns.

    ``kept`` are answers and phrasings of those turns, which may repeat what was shown to a model;
    ``receipts`` are those that stand on the log.
    """

    seqs: dict[bytes, int | None] = field(default_factory=dict)
    turns: dict[str, None] = field(default_factory=dict)
    receipts: dict[str, None] = field(default_factory=dict)
    kept: tuple[str, ...] = ()


def erase(
    log: ErasableLog, *, tenant: str, user: str, event_ids: tuple[str, ...], operator: str | None
) -> ErasureReport:
    """Erase events of a user, or without ids all of the user; return what was done.

    May be repeated at any time: what was erased keeps its first receipt.

    Raises:
        ErasureError: the request was rejected, or an encrypted log needs an operator.
        KeyStoreFailedError: the key store cannot be had; nothing was destroyed then, run it again.
        FoldingElsewhereError: another process folds; stop it, so that its memory forgets too.
    """
    opener = log.opener
    if isinstance(opener, SealedOpener) and operator is None:
        raise ErasureError("an encrypted log needs an operator, who completes the erasure")
    _send(log, _request(tenant, user, event_ids, operator))
    if not isinstance(opener, SealedOpener):
        return ErasureReport(tenant=tenant, user=user, events=len(event_ids), turns=0, receipt="")
    assert operator is not None, "checked above"
    reach("erasure_requested")
    found = _find(log, opener, tenant, user, event_ids)
    pseudonym = opener.pseudonym_of(tenant, user)
    keys = opener.keys
    seqs = dict(found.seqs)
    seqs.update((keys.name_key(pseudonym, (TURN, name)), None) for name in found.turns)
    row_keys: list[bytes] = []
    if not event_ids:
        row_keys = [name_rows(keys, pseudonym, r) for r in ("", *keys.list_receipts(pseudonym))]
        for name in keys.list_references(pseudonym):
            if name not in row_keys:
                seqs.setdefault(name, None)
    receipt = keys.erase(pseudonym, seqs, renewed=log.renewed_first(row_keys))
    # Named events stand here also where an earlier run has destroyed their keys already: without
    # any name the record would mean all of the user.
    named = {keys.name_key(pseudonym, (EVENT, name)) for name in event_ids} | found.seqs.keys()
    names = tuple(sorted(name.hex() for name in named)) if event_ids else ()
    # A run that died behind the keys has left its receipt in the key store alone.
    left = [one for one in keys.list_receipts(pseudonym) if one not in {*found.receipts, receipt}]
    for one in (*left, receipt):
        completed = ErasureCompleted(tenant, PSEUDONYM + pseudonym.hex(), names, one)
        _send(log, _build("", "", Principal(PrincipalKind.OPERATOR, operator), completed))
    reach("erasure_completed")
    log.forget(pseudonym, row_keys)
    return ErasureReport(
        tenant=tenant,
        user=user,
        events=len(found.seqs),
        turns=len(found.turns),
        receipt=receipt,
        kept=found.kept,
    )


def _request(tenant: str, user: str, event_ids: tuple[str, ...], operator: str | None) -> Event:
    sender = (
        Principal(PrincipalKind.USER, user)
        if operator is None
        else Principal(PrincipalKind.OPERATOR, operator)
    )
    return _build(tenant, user, sender, ErasureRequested(event_ids))


def _build(
    tenant: str, user: str, sender: Principal, payload: ErasureRequested | ErasureCompleted
) -> Event:
    return Event(
        event_id=f"erasure-{secrets.token_hex(16)}",
        tenant=tenant,
        user=user,
        occurred_at_ms=time.time_ns() // 1_000_000,
        utc_offset_min=0,
        zone=None,
        principal=sender,
        mac=None,
        causation_id=None,
        correlation_id=None,
        derived_from=(),
        source=None,
        source_seq=None,
        payload=payload,
    )


def _send(log: ErasableLog, event: Event) -> None:
    """Append an event and wait until the ledgers have passed it."""
    reason = log.tell(event)
    if reason is not None:
        raise ErasureError(f"{type(event.payload).__name__} was rejected: {reason}")


def _find(
    log: ErasableLog, opener: SealedOpener, tenant: str, user: str, event_ids: tuple[str, ...]
) -> _Found:
    """Return the keys to destroy: of the events, of all derived, of turns resting on them."""
    found, named, answers = _Found(), dict.fromkeys(event_ids), {}
    key = opener.key_of(tenant, user)
    for recorded in log.recorded(tenant, user):
        if recorded.record.key == CONTROL_KEY:
            control = opener.open(recorded.record).event.payload
            if isinstance(control, ErasureCompleted):
                found.receipts[control.receipt] = None
        if recorded.record.key != key:
            continue
        try:
            sealed, _ = unframe(SealedEvent, recorded.record.value)
            event = opener.open(recorded.record).event
        except (DecodeError, ErasedEventError):
            continue
        if not event_ids or _is_meant(event, named):
            named[event.event_id] = None
            found.seqs[sealed.reference] = decode(Fate, recorded.fate).seq
        if isinstance(event.payload, CandidatesProposed | SurfaceProposed):
            answers[event.event_id] = event.payload.turn_id
        found.turns.update((turn, None) for turn in _list_resting(recorded, opener, named))
    found.kept = tuple(
        name for name, turn in answers.items() if turn in found.turns and name not in named
    )
    return found


def _is_meant(event: Event, named: dict[str, None]) -> bool:
    payload = event.payload
    sources = payload.source_event_ids if isinstance(payload, HintExtracted) else ()
    derived = any(source in named for source in (*event.derived_from, *sources))
    return event.event_id in named or derived


def _list_resting(
    recorded: Recorded, opener: SealedOpener, named: dict[str, None]
) -> Iterator[str]:
    for output in recorded.outputs:
        if output.topic not in {*OUTCOME_TOPICS, "packets"}:
            continue
        value = opener.unseal(output.value)
        if value is None:
            continue
        record = read_output(output.topic, value)
        if output.topic == "packets":
            rests_on = [unit.event_id for unit in record.units]
        else:
            rests_on = [reference.event_id for reference in record.certificate.rests_on]
        if record.turn_id in named or any(name in named for name in rests_on):
            yield record.turn_id


__all__ = ["EmbeddedErasable", "ErasableLog", "ErasureError", "ErasureReport", "KeyStore", "erase"]
