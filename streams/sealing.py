"""Encrypted mode: events and outputs under AES-SIV data keys that a key store holds (spec 7.5).

AES-SIV is deterministic, so that retries and replays give equal bytes. The key store answers
present, erased with a receipt, or fails; only a receipt means erased.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from schemas.codec import (
    HEADER_BYTES,
    MARKER,
    DecodeError,
    decode,
    encode,
    frame,
    schema_fingerprint,
    unframe,
)
from schemas.event import CONTROL_PAYLOADS, Event
from schemas.identity import prefix_lengths, record_key
from schemas.sealed import SealedEvent, SealedOutput
from streams.failures import KeyStoreFailedError
from streams.opening import ErasedEventError, Opened, PlainOpener
from streams.ports import LogRecord, NewRecord

PSEUDONYM: Final = "pseudonym:"
"""How control records of an encrypted log name a user: this and hexadecimal digits."""
EVENT: Final = "event"
TURN: Final = "turn"
ROWS: Final = "rows"
_CONTROL_KEY: Final = record_key("", "")


@dataclass(frozen=True, slots=True)
class Erased:
    """The key store's answer for a key that was erased: the receipt, and the event's seq."""

    receipt: str
    seq: int | None


class KeyStore(Protocol):
    """The keys of an encrypted log; a method that cannot answer raises KeyStoreFailedError."""

    def name_user(self, tenant: str, user: str) -> bytes:
        """Return the user's pseudonym: HMAC-SHA-256 under the tenant's key, never rotated."""
        ...

    def name_key(self, pseudonym: bytes, name: Sequence[str]) -> bytes:
        """Return the reference of a data key: HMAC-SHA-256 over the user and a name."""
        ...

    def find(self, reference: bytes) -> bytes | Erased:
        """Return a data key that was made before, or that it was erased."""
        ...

    def obtain(self, reference: bytes, *, tenant: str, pseudonym: bytes) -> bytes | Erased:
        """Return a data key, made and durable now if there was none; erased ones stay so."""
        ...

    def encrypt(self, key: bytes, content: bytes, bound: Sequence[bytes]) -> bytes:
        """Return AES-SIV of the content bound to these texts: equal input, equal bytes."""
        ...

    def decrypt(self, key: bytes, sealed: bytes, bound: Sequence[bytes]) -> bytes | None:
        """Return the content, or None if it was not sealed so."""
        ...

    def list_references(self, pseudonym: bytes) -> Sequence[bytes]:
        """Return the references of all keys of a user that are not erased, sorted."""
        ...

    def list_receipts(self, pseudonym: bytes) -> Sequence[str]:
        """Return the receipts under which keys of a user were erased, sorted."""
        ...

    def erase(
        self, pseudonym: bytes, seqs: Mapping[bytes, int | None], *, renewed: Iterable[bytes] = ()
    ) -> str:
        """Destroy data keys for good and return the receipt; see infra/key_store.py."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Make the keys that are made inside durable at once, when it ends."""
        ...


class ErasedIdReusedError(ValueError):
    """An event id is used again whose first event was erased: the user may say it under another."""


class SealedOpener:
    """The opener of an encrypted log, and what seals events for it."""

    hides = True

    def __init__(self, keys: KeyStore) -> None:
        """Seal and open with the keys of this store."""
        self._keys = keys
        self._plain = PlainOpener()

    def seal_events(self, events: Iterable[Event]) -> list[NewRecord]:
        """Return the records of events, whose new keys are durable then.

        Control records hold no personal data and stay plain.

        Raises:
            ErasedIdReusedError: an event of one of the ids was erased.
        """
        with self._keys.together():
            return [self._seal_event(event) for event in events]

    def _seal_event(self, event: Event) -> NewRecord:
        if isinstance(event.payload, CONTROL_PAYLOADS):
            return NewRecord(_CONTROL_KEY, frame(event))
        pseudonym = self._keys.name_user(event.tenant, event.user)
        reference = self._keys.name_key(pseudonym, (EVENT, event.event_id))
        key = self._keys.obtain(reference, tenant=event.tenant, pseudonym=pseudonym)
        if isinstance(key, Erased):
            raise ErasedIdReusedError(
                f"event_id: {event.event_id} was erased ({key.receipt}); use a new id"
            )
        bound = (event.tenant.encode(), pseudonym, reference)
        sealed = self._keys.encrypt(key, encode(event), bound)
        value = frame(SealedEvent(event.tenant, pseudonym, reference, sealed))
        return NewRecord(prefix_lengths(event.tenant.encode(), pseudonym), value)

    @property
    def keys(self) -> KeyStore:
        """Return the key store."""
        return self._keys

    def open(self, record: LogRecord) -> Opened:
        """Return the event of a record; an event of a user in the clear is none here."""
        if record.key == _CONTROL_KEY:
            return self._plain.open(record)
        sealed, body = unframe(SealedEvent, record.value)
        digest = hashlib.sha256(body).digest()
        key = self._keys.find(sealed.reference)
        if isinstance(key, Erased):
            raise ErasedEventError(digest=digest, tenant=sealed.tenant, seq=key.seq)
        bound = (sealed.tenant.encode(), sealed.pseudonym, sealed.reference)
        event_body = self._decrypt(key, sealed.sealed, bound)
        event = decode(Event, event_body)
        named = self._keys.name_key(sealed.pseudonym, (EVENT, event.event_id))
        if named != sealed.reference or event.tenant != sealed.tenant:
            raise DecodeError("key_user_mismatch", "the event is not the one that its key names")
        return Opened(event, event_body, digest)

    def key_of(self, tenant: str, user: str) -> bytes:
        """Return the length-prefixed tenant and pseudonym; control records have theirs."""
        if not tenant and not user:
            return _CONTROL_KEY
        return prefix_lengths(tenant.encode(), self.pseudonym_of(tenant, user))

    def pseudonym_of(self, tenant: str, user: str) -> bytes:
        """Return a user's pseudonym; what names one already is taken as it is."""
        if user.startswith(PSEUDONYM):
            try:
                return bytes.fromhex(user.removeprefix(PSEUDONYM))
            except ValueError:
                pass  # Nobody's pseudonym: a name that only begins like one.
        return self._keys.name_user(tenant, user)

    def seal(self, value: bytes, *, tenant: str, user: str, name: Sequence[str]) -> bytes | None:
        """Return an output under its data key; None if that was erased."""
        pseudonym = self.pseudonym_of(tenant, user)
        reference = self._keys.name_key(pseudonym, name)
        key = self._keys.obtain(reference, tenant=tenant, pseudonym=pseudonym)
        if isinstance(key, Erased):
            return None
        sealed = self._keys.encrypt(key, value, (tenant.encode(), reference))
        return frame(SealedOutput(tenant, reference, sealed))

    def unseal(self, value: bytes) -> bytes | None:
        """Return an output as it was put out; None if its key was erased."""
        if value[2:HEADER_BYTES] != schema_fingerprint(SealedOutput) or value[:2] != MARKER:
            return value
        sealed, _ = unframe(SealedOutput, value)
        key = self._keys.find(sealed.reference)
        if isinstance(key, Erased):
            return None
        return self._decrypt(key, sealed.sealed, (sealed.tenant.encode(), sealed.reference))

    def _decrypt(self, key: bytes, sealed: bytes, bound: Sequence[bytes]) -> bytes:
        content = self._keys.decrypt(key, sealed, bound)
        if content is None:
            raise DecodeError("schema_violation", "the ciphertext does not check")
        return content


__all__ = [
    "EVENT",
    "PSEUDONYM",
    "ROWS",
    "TURN",
    "Erased",
    "ErasedIdReusedError",
    "KeyStore",
    "KeyStoreFailedError",
    "SealedOpener",
]
