"""The core as a reducer of the ledger: bytes in, one ``decision.step``, bytes out.

Opens the record, hands the core a view of its user's rows, and encodes what comes back. Rows
are held decoded until the batch closes, so a user's head is encoded once per batch.
"""

import hashlib
from dataclasses import replace
from typing import ClassVar, Final

from processors import decision
from processors.compilation.draft import owner_of
from processors.compilation.purging import pass_erased, purge_user
from processors.limits import EVENT_BYTES_MAX
from processors.ruleset import UnknownRulesetError
from processors.view import Output, Stamp, Step
from schemas.codec import DecodeError, build_header, encode, frame
from schemas.event import ErasureCompleted, Event
from schemas.fate import Fate, FateStatus, RejectionReason
from schemas.hot_bytes import encode_accepted
from schemas.identity import record_key
from schemas.outcome import Commitment, Rejection, RepairAct, Surface, TurnFailure
from schemas.packet import Packet
from schemas.record import compile_building
from schemas.row import CONTRACT_KINDS, KIND_OF, STATE_KINDS, DeadlineRow
from streams.authentication import OPEN, Authenticator, NoKeys
from streams.failures import KeysMissingError, LedgerBrokenError
from streams.opening import ErasedEventError, Opener, PlainOpener
from streams.ports import Finished, Folded, Headers, LogRecord, OutputRecord, RowChange, RowReader
from streams.row_layout import ROW_FORMAT, decode_row, row_key
from streams.sealing import EVENT, PSEUDONYM, ROWS, TURN
from streams.user_cache import CACHE_BYTES_DEFAULT, CachedView, UserCache

TOPIC_OF: Final[dict[type, str]] = {
    Packet: "packets",
    Commitment: "commitments",
    RepairAct: "repairs",
    TurnFailure: "failures",
    Surface: "surfaces",
    Rejection: "rejections",
}
_CONTROL_KEY: Final = record_key("", "")
ERASED: Final = "erased"
_KEYS_MISSING: Final = (
    "this log is authenticated, and no keys are configured to check its events: set "
    "COMMITMENTS_KEYS_FILE to the key file, or COMMITMENTS_KEYS to its content"
)
_NOTHING: Final[dict[bytes, bytes | None]] = {}
_build_stamp: Final = compile_building(Stamp)
_build_folded: Final = compile_building(Folded)


class CoreReducer:
    """Folds ``events`` through the core; one per partition, used by one thread."""

    version: ClassVar[str] = "core-2"

    def __init__(
        self,
        *,
        partition: int = 0,
        cache_bytes: int = CACHE_BYTES_DEFAULT,
        keep_bytes: bool = True,
        authenticator: Authenticator | None = None,
        opener: Opener | None = None,
    ) -> None:
        """Fold one partition; ``keep_bytes``: rejections carry the rejected bytes.

        ``authenticator`` judges macs; without one principals are taken at their word. ``opener``
        reads and seals; without one the log stands in the clear.
        """
        self._opener = PlainOpener() if opener is None else opener
        self._met_erased = False
        self._authenticator = NoKeys() if authenticator is None else authenticator
        self._partition = partition
        self._cache = UserCache(cache_bytes)
        self._keep_bytes = keep_bytes

    @property
    def met_erased(self) -> bool:
        """Tell whether an event was folded that nobody can read any more."""
        return self._met_erased

    def reset(self) -> None:
        """Drop every cache and every row held back."""
        self._cache.drop()

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        """Fold one record; whatever its bytes, the answer is a fate.

        Raises:
            LedgerBrokenError: the log has activated a ruleset that this build lacks.
            KeysMissingError: the log is authenticated and this process holds no keys.

        """
        try:
            event, stamp, body = self._open(record)
        except DecodeError as error:
            return self._reject(record, RejectionReason(error.reason), error.detail)
        except ErasedEventError as erased:
            return self._pass_erased(rows, record, erased)
        view = self._view(rows, event, record.key)
        try:
            step = decision.step(view, event, stamp)
        except UnknownRulesetError as error:
            raise LedgerBrokenError(str(error)) from error
        if step.fate.reason is RejectionReason.UNAUTHENTICATED and stamp.authentic == OPEN:
            # A rejection for want of keys would stand for ever.
            raise KeysMissingError(_KEYS_MISSING)
        folded = self._conclude(record, event, body, view, step)
        if self._opener.hides and step.fate.status is FateStatus.ACCEPTED:
            self._purge(rows, event)
        return folded

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        """Reject the record whose fold raised as ``core_fault`` and halt its user."""
        event, stamp, body = self._open(record)
        view = self._view(rows, event, record.key)
        step = decision.fault(view, event, stamp, type(error).__name__)
        return self._conclude(record, event, body, view, step)

    def gap(self, rows: RowReader, *, missing_from: int, next_offset: int) -> Folded:
        """Mark every user of the partition as history_incomplete (spec 1.8)."""
        view = self._cache.view(rows, "", "")
        self._cache.hold(view, decision.record_gap(view), None, b"")
        detail = f"gap of offsets {missing_from} to {next_offset - 1}"
        return Folded(encode(Fate(FateStatus.ACCEPTED, None, None, detail, "")), {})

    def finish(self) -> Finished:
        """Return the rows held back since the last call, and their public copies."""
        changes: list[RowChange] = []
        outputs = []
        for record, rows in self._cache.release():
            changes += rows
            public = _PUBLIC.get(record)
            if public is not None:
                topic, start = public
                for key, _, _, value in rows:
                    copy = None if value is None else start + value[len(ROW_FORMAT) :]
                    outputs.append(OutputRecord(topic, key[1:], self._seal_row(key, copy)))
        return Finished(changes, tuple(outputs))

    def _view(self, rows: RowReader, event: Event, key: bytes | None) -> CachedView:
        """Return the view of the user whom an event of this record key is about."""
        tenant, user = owner_of(event)
        if (tenant, user) != (event.tenant, event.user):
            key = self._opener.key_of(tenant, user)
        return self._cache.view(rows, tenant, user, key)

    def _pass_erased(self, rows: RowReader, record: LogRecord, erased: ErasedEventError) -> Folded:
        """Go on behind an event whose key is gone: its seq and its digest are all that is left."""
        self._met_erased = True
        if erased.seq is None:
            fate = Fate(FateStatus.REJECTED, None, RejectionReason.UNRESOLVABLE, "", ERASED)
            return Folded(encode(fate), {})
        view = self._cache.view(rows, erased.tenant, "", record.key)
        changes = pass_erased(view, seq=erased.seq, digest=erased.digest)
        self._cache.hold(view, changes, None, b"")
        return Folded(encode(Fate(FateStatus.ACCEPTED, erased.seq, None, "", ERASED)), {})

    def _purge(self, rows: RowReader, event: Event) -> None:
        """Leave nothing of a user whose erasure is complete (spec 7.5)."""
        payload = event.payload
        if isinstance(payload, ErasureCompleted) and not payload.event_ids:
            key = self._opener.key_of(payload.tenant, payload.user)
            view = self._cache.view(rows, payload.tenant, payload.user, key)
            self._cache.hold(view, purge_user(view), None, b"")

    def _seal_row(self, key: bytes, value: bytes | None) -> bytes | None:
        """Return a row's public copy; its key begins with u and the record key of its owner."""
        if value is None or not self._opener.hides:
            return value
        at = 5 + int.from_bytes(key[1:5], "big")
        end = at + 4 + int.from_bytes(key[at : at + 4], "big")
        tenant, pseudonym = key[5:at].decode(), key[at + 4 : end].hex()
        return self._opener.seal(value, tenant=tenant, user=PSEUDONYM + pseudonym, name=(ROWS,))

    def _open(self, record: LogRecord) -> tuple[Event, Stamp, bytes]:
        if record.key is None or not record.key:
            raise DecodeError("missing_key", "the record has no key; the key is tenant and user")
        if record.value is not None and len(record.value) > EVENT_BYTES_MAX:
            detail = f"{len(record.value)} bytes; at most {EVENT_BYTES_MAX}"
            raise DecodeError("too_large", detail)
        event, body, digest = self._opener.open(record)
        if record.key != self._opener.key_of(event.tenant, event.user):
            raise DecodeError("key_user_mismatch", "the key is not that of the event's user")
        authentic = self._authenticator.judge(event, body, record.offset)
        stamp = _build_stamp(
            digest, record.timestamp_ms, self._partition, record.offset, len(body), authentic,
            record.key,
        )  # fmt: skip
        return event, stamp, body

    def _reject(self, record: LogRecord, reason: RejectionReason, detail: str) -> Folded:
        fate = Fate(FateStatus.REJECTED, None, reason, detail, "")
        return Folded(encode(fate), {}, (self._describe_rejection(record, fate),))

    def _describe_rejection(
        self, record: LogRecord, fate: Fate, event: Event | None = None
    ) -> OutputRecord:
        data = record.value or b""
        kept = data if self._keep_bytes and len(data) <= EVENT_BYTES_MAX else None
        rejection = Rejection(
            partition=self._partition,
            offset=record.offset,
            digest=hashlib.sha256(data).digest(),
            reason=fate.reason.value if fate.reason else "",
            detail=fate.detail,
            # What could not be opened in an encrypted log may be anybody's words.
            data=None if event is None and self._opener.hides else kept,
        )
        value: bytes | None = frame(rejection)
        if event is not None and event.user and value is not None:
            name = (EVENT, event.event_id)
            value = self._opener.seal(value, tenant=event.tenant, user=event.user, name=name)
        # Sealed, it does not tell what it rejects to those who put a history together.
        headers = self._describe_place(record) if self._opener.hides else ()
        return OutputRecord("rejections", record.key or _CONTROL_KEY, value, headers)

    def _conclude(
        self, record: LogRecord, event: Event, body: bytes, view: CachedView, step: Step
    ) -> Folded:
        self._cache.hold(view, step.changes, event, body)
        fate = step.fate
        if self._opener.hides and event.user:
            fate = hide_detail(fate)
        encoded = encode_accepted(fate) or encode(fate)
        if not step.outputs and fate.status is not FateStatus.REJECTED:
            return _build_folded(encoded, _NOTHING, ())
        outputs = [self._place(record, event, output) for output in step.outputs]
        if step.fate.status is FateStatus.REJECTED:
            outputs.append(self._describe_rejection(record, step.fate, event))
        return Folded(encoded, _NOTHING, tuple(outputs))

    def _place(self, record: LogRecord, event: Event, output: Output) -> OutputRecord:
        headers = self._describe_place(record)
        if not self._opener.hides:
            headers = (*headers, ("event_id", event.event_id.encode()))
        assert not isinstance(output, Rejection), "the core puts out what belongs to a turn"
        name = (TURN, output.turn_id)
        value = self._opener.seal(frame(output), tenant=event.tenant, user=event.user, name=name)
        key = self._opener.key_of(event.tenant, event.user)
        return OutputRecord(TOPIC_OF[type(output)], key, value, headers)

    def _describe_place(self, record: LogRecord) -> Headers:
        offset = str(record.offset).encode()
        return (("partition", str(self._partition).encode()), ("offset", offset))


def hide_detail(fate: Fate) -> Fate:
    """Return a fate that may stand in the ledger of an encrypted log: it repeats no words."""
    if fate.reason in {RejectionReason.UNAUTHENTICATED, RejectionReason.CORE_FAULT}:
        return fate
    return replace(fate, detail="") if fate.detail else fate


_PUBLIC: Final[dict[type, tuple[str, bytes]]] = {
    record: (
        "contracts" if kind in CONTRACT_KINDS else "states",
        build_header(record),
    )
    for record, kind in KIND_OF.items()
    if kind in CONTRACT_KINDS | STATE_KINDS
}


def list_due(rows: RowReader, now_ms: int) -> list[DeadlineRow]:
    """Return the pending turns whose deadline has passed, oldest first."""
    base = row_key(b"p", DeadlineRow, "")
    due = []
    for key, data in rows.scan(base):
        if int(key[len(base) : len(base) + 16]) > now_ms:
            break
        due.append(decode_row(DeadlineRow, data))
    return due
