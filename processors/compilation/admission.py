"""admit: whether an event is accepted, a counted duplicate, or rejected with a reason (spec 1).

The order of the checks stands here: what the bytes say, who speaks, what was seen, what is
allowed, what the rows need. A rejected event and a duplicate take no seq and change nothing.
"""

from dataclasses import replace
from typing import Final

from processors.compilation.conditions import check_conditions
from processors.compilation.control import build_regime
from processors.compilation.declarations import check_declaration
from processors.compilation.draft import HEAD_ID, REGIME_ID, owner_of
from processors.compilation.names import check_name, is_name
from processors.compilation.permissions import check_operator, check_sender, deny
from processors.compilation.refusal import Refusal, reject, violate
from processors.compilation.shapes import check_payload
from processors.compilation.window import is_in_window
from processors.limits import AHEAD_MS_MAX, EVENT_BYTES_MAX
from processors.predicates.instants import find_zone
from processors.view import Arrival, Stamp, View
from schemas.event import CONTROL_PAYLOADS, Event, Genesis, PrincipalKind
from schemas.fate import Fate, FateStatus, RejectionReason
from schemas.identity import record_key
from schemas.partition import partition_of
from schemas.record import compile_building
from schemas.row import RegimeRow, SeenRow, SourceRow, UserHead

OFFSET_MINUTES_MAX: Final = 18 * 60
VERIFIED: Final = "verified"
FAILED: Final = "failed"

_build_arrival: Final = compile_building(Arrival)
_CONTROL: Final = frozenset(CONTROL_PAYLOADS)
_DUPLICATE: Final = Fate(FateStatus.DUPLICATE, None, None, "", "")


def admit(view: View, event: Event, stamp: Stamp) -> Arrival | Fate:
    """Return the event with its seq and effective time, or why it has none (spec 1.1-1.11).

    ``view`` is that of ``owner_of`` the event. A control record gets seq 0: it takes none.
    """
    return admit_under(view.get(RegimeRow, REGIME_ID), view, event, stamp)


def admit_under(regime: RegimeRow | None, view: View, event: Event, stamp: Stamp) -> Arrival | Fate:
    """Return what ``admit`` does; the regime is the view's, read already."""
    refusal = _check_envelope(view, event, stamp) or _check_authentic(event, stamp, regime)
    if refusal is not None:
        return reject(refusal)
    if type(event.payload) in _CONTROL:
        return _admit_control(event, stamp, regime)
    if regime is None:
        return reject(deny("no genesis record stands before it; begin the log with one"))
    refusal = _check_place(event, stamp, regime) or check_payload(event)
    if refusal is not None:
        return reject(refusal)
    return _admit_user_event(view, event, stamp, regime)


def _admit_user_event(view: View, event: Event, stamp: Stamp, regime: RegimeRow) -> Arrival | Fate:
    head = view.get(UserHead, HEAD_ID)
    last_seq, last_ms = (0, 0) if head is None else (head.seq, head.effective_ms)
    effective_ms = max(event.occurred_at_ms, last_ms)
    seen = view.get(SeenRow, event.event_id)
    if seen is not None and is_in_window(seen, last_seq=last_seq, effective_ms=effective_ms):
        if seen.digest == stamp.digest:
            return _DUPLICATE
        return reject(
            Refusal(
                RejectionReason.EVENT_ID_CONFLICT,
                f"event_id: seq {seen.seq} has it with another body; use a new id",
            )
        )
    if event.source is not None and event.source_seq is not None:
        row = view.get(SourceRow, event.source)
        if row is not None and event.source_seq <= row.source_seq:
            return _DUPLICATE
    refusal = (
        _check_time(event, stamp)
        or check_sender(event, regime)
        or check_conditions(view, event, head, regime)
    )
    if refusal is not None:
        return reject(refusal)
    reused_seq = 0 if seen is None else seen.seq
    return _build_arrival(event, last_seq + 1, effective_ms, stamp.digest, reused_seq, head)


def _admit_control(event: Event, stamp: Stamp, regime: RegimeRow | None) -> Arrival | Fate:
    refusal = check_operator(event, regime)
    if refusal is None and regime is None and not isinstance(event.payload, Genesis):
        refusal = deny("no genesis record stands before it; begin the log with one")
    if refusal is not None:
        return reject(refusal)
    if isinstance(event.payload, Genesis) and regime is not None:
        if _is_same_genesis(build_regime(event.payload), regime):
            return _DUPLICATE
        return reject(deny("genesis stands already; change it by RulesetActivated and others"))
    refusal = check_declaration(event.payload)
    if refusal is not None:
        return reject(refusal)
    return Arrival(event, 0, event.occurred_at_ms, stamp.digest)


def _is_same_genesis(again: RegimeRow, regime: RegimeRow) -> bool:
    """Return whether a genesis says what is in force, but for what may have changed since."""
    now = replace(
        again,
        ruleset=regime.ruleset,
        catalogue_digest=regime.catalogue_digest,
        gaps=regime.gaps,
        attested_gaps=regime.attested_gaps,
    )
    return now == regime


def _check_envelope(view: View, event: Event, stamp: Stamp) -> Refusal | None:
    if stamp.size > EVENT_BYTES_MAX:
        return Refusal(
            RejectionReason.TOO_LARGE,
            f"{stamp.size} bytes; at most {EVENT_BYTES_MAX}, put content behind a reference",
        )
    if owner_of(event) != (view.tenant, view.user):
        return Refusal(
            RejectionReason.KEY_USER_MISMATCH, "tenant, user: not those of the record key"
        )
    if event.principal.kind is PrincipalKind.UNKNOWN:
        return Refusal(RejectionReason.UNKNOWN_OPERATION, "principal.kind: unknown")
    refusal = check_name("event_id", event.event_id)
    if refusal is not None or type(event.payload) in _CONTROL:
        return refusal
    if not is_name(event.tenant) or not is_name(event.user):
        return check_name("tenant", event.tenant) or check_name("user", event.user)
    if event.source is not None or event.source_seq is not None:
        refusal = _check_source(event)
    return refusal or _check_sources(event)


def _check_source(event: Event) -> Refusal | None:
    if event.source is None or event.source_seq is None:
        return violate("source, source_seq: one without the other; send both or neither")
    return check_name("source", event.source)


def _check_sources(event: Event) -> Refusal | None:
    for place, source in enumerate(event.derived_from):
        refusal = check_name(f"derived_from[{place}]", source)
        if refusal is not None:
            return refusal
    return None


def _check_authentic(event: Event, stamp: Stamp, regime: RegimeRow | None) -> Refusal | None:
    """Without keys the log is open; with keys only a verified mac counts (spec 1.6).

    The genesis record that begins an authenticated log is the first that must be signed.
    """
    begins = isinstance(event.payload, Genesis) and event.payload.authenticated
    needed = begins if regime is None else regime.authenticated
    if stamp.authentic == FAILED or (needed and stamp.authentic != VERIFIED):
        return Refusal(
            RejectionReason.UNAUTHENTICATED,
            f"mac: {stamp.authentic}; sign envelope and payload with the principal's key",
        )
    return None


def _check_place(event: Event, stamp: Stamp, regime: RegimeRow) -> Refusal | None:
    key = record_key(event.tenant, event.user) if stamp.key is None else stamp.key
    right = partition_of(key, regime.partitions)
    if right == stamp.partition:
        return None
    return Refusal(
        RejectionReason.WRONG_PARTITION,
        f"partition {stamp.partition}; murmur2 of the key modulo {regime.partitions} is {right}",
    )


def _check_time(event: Event, stamp: Stamp) -> Refusal | None:
    if event.utc_offset_min is None and event.zone is None:
        return Refusal(
            RejectionReason.TIME_WITHOUT_ZONE, "give utc_offset_min or an IANA zone, or both"
        )
    if event.zone is not None and find_zone(event.zone) is None:
        return Refusal(
            RejectionReason.TIME_WITHOUT_ZONE,
            f"zone: {event.zone[:64]!r} is no IANA zone; write such as Europe/Paris",
        )
    if event.utc_offset_min is not None and abs(event.utc_offset_min) > OFFSET_MINUTES_MAX:
        return violate(f"utc_offset_min: {event.utc_offset_min}; at most {OFFSET_MINUTES_MAX}")
    if event.occurred_at_ms <= 0:
        return violate(f"occurred_at_ms: {event.occurred_at_ms}; say when it happened")
    ahead_ms = event.occurred_at_ms - stamp.append_ms
    if stamp.append_ms >= 0 and ahead_ms > AHEAD_MS_MAX:  # A log may stamp nothing: -1.
        return Refusal(
            RejectionReason.TIME_AHEAD,
            f"occurred_at_ms: {ahead_ms} ms after it was appended; at most {AHEAD_MS_MAX}",
        )
    return None
