"""Erasure on an embedded log, in the order that makes it final (spec 7.5).

The request is folded first, then the keys are destroyed, then the receipt is put on the log and
the row store is rewritten. On a plain log only the first step exists, and what it leaves is said.
"""

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

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
from streams.opening import ErasedEventError
from streams.sealing import EVENT, PSEUDONYM, ROWS, TURN, KeyStore, SealedOpener

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
    embedded: Embedded, *, tenant: str, user: str, event_ids: tuple[str, ...], operator: str | None
) -> ErasureReport:
    """Erase events of a user, or without ids all of the user; return what was done.

    May be repeated at any time: what was erased keeps its first receipt.

    Raises:
        ErasureError: the request was rejected, or an encrypted log needs an operator.
        KeyStoreFailed: the key store cannot be had; nothing was destroyed then, run it again.
        FoldingElsewhere: another process folds; stop it, so that its memory forgets too.
    """
    opener = embedded.opener
    if isinstance(opener, SealedOpener) and operator is None:
        raise ErasureError("an encrypted log needs an operator, who completes the erasure")
    _send(embedded, _request(tenant, user, event_ids, operator))
    if not isinstance(opener, SealedOpener):
        return ErasureReport(tenant=tenant, user=user, events=len(event_ids), turns=0, receipt="")
    assert operator is not None, "checked above"
    reach("erasure_requested")
    found = _find(embedded, opener, tenant, user, event_ids)
    pseudonym = opener.pseudonym_of(tenant, user)
    keys = opener.keys
    seqs = dict(found.seqs)
    seqs.update((keys.name_key(pseudonym, (TURN, name)), None) for name in found.turns)
    rows_key = keys.name_key(pseudonym, (ROWS,))
    if not event_ids:
        for name in keys.list_references(pseudonym):
            if name != rows_key:
                seqs.setdefault(name, None)
    receipt = keys.erase(pseudonym, seqs, renewed=() if event_ids else (rows_key,))
    # Named events stand here also where an earlier run has destroyed their keys already: without
    # any name the record would mean all of the user.
    named = {keys.name_key(pseudonym, (EVENT, name)) for name in event_ids} | found.seqs.keys()
    names = tuple(sorted(name.hex() for name in named)) if event_ids else ()
    # A run that died behind the keys has left its receipt in the key store alone.
    left = [one for one in keys.list_receipts(pseudonym) if one not in {*found.receipts, receipt}]
    for one in (*left, receipt):
        completed = ErasureCompleted(tenant, PSEUDONYM + pseudonym.hex(), names, one)
        _send(embedded, _build("", "", Principal(PrincipalKind.OPERATOR, operator), completed))
    reach("erasure_completed")
    embedded.compact()
    reach("rows_compacted")
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


def _send(embedded: Embedded, event: Event) -> None:
    """Append an event and wait until the ledger has passed it."""
    append_events(embedded, [event])
    offset = embedded.log.bounds().end - 1
    embedded.wait_for(offset, timeout_ms=WAIT_MS)
    with embedded.reading() as store:
        assert store is not None, "the event is folded"
        fate = RecordedFates(store).find(offset)
    if fate is None or fate.status is not FateStatus.ACCEPTED:
        reason = "" if fate is None or fate.reason is None else fate.reason.value
        raise ErasureError(f"{type(event.payload).__name__} was rejected: {reason}")


def _find(
    embedded: Embedded, opener: SealedOpener, tenant: str, user: str, event_ids: tuple[str, ...]
) -> _Found:
    """Return the keys to destroy: of the events, of all derived, of turns resting on them."""
    found, named, answers = _Found(), dict.fromkeys(event_ids), {}
    key = opener.key_of(tenant, user)
    history = EmbeddedHistory(embedded)
    for recorded in history.recorded(0):
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


__all__ = ["ErasureError", "ErasureReport", "KeyStore", "erase"]
