"""What an envelope's mac covers, and the mac itself (spec 1.6).

Pure bytes: which key belongs to whom is ``streams.authentication``; keys live outside the log.
"""

import hashlib
import hmac
from dataclasses import replace
from typing import Final

from schemas.codec import DecodeError, encode
from schemas.event import Event

KEY_BYTES_MIN: Final = 16

_TEXT_FIELDS: Final = 3  # event_id, tenant, user.
_NULL: Final = b"\x00"
_PRESENT: Final = b"\x02"


def canonical_bytes(body: bytes) -> bytes:
    """Return what the mac of an event covers: its Avro body with the mac null.

    The writer's own bytes stay as they are, so that a mac still verifies after the schema has
    grown; fields are only ever added behind these. An event without mac covers its whole body.

    Raises:
        DecodeError: ``schema_violation`` when the bytes end before the mac.

    """
    start = _find_mac(body)
    if body[start : start + 1] == _NULL:
        return body
    length, end = _read_long(body, start + 1)
    return b"".join((body[:start], _NULL, body[end + length :]))


def compute_mac(key: bytes, body: bytes) -> bytes:
    """Return HMAC-SHA-256 over the canonical bytes of an event's body."""
    return hmac.new(key, canonical_bytes(body), hashlib.sha256).digest()


def sign(event: Event, key: bytes) -> Event:
    """Return the event with its mac under this key; an older mac is replaced."""
    bare = replace(event, mac=None)
    return replace(bare, mac=compute_mac(key, encode(bare)))


def is_signed_with(key: bytes, body: bytes, mac: bytes) -> bool:
    """Return whether a mac is that of this body under this key, in constant time."""
    return hmac.compare_digest(mac, compute_mac(key, body))


def _find_mac(body: bytes) -> int:
    """Return where the mac's union begins: behind ids, time, offset, zone and principal."""
    at = 0
    for _ in range(_TEXT_FIELDS):
        at = _skip_text(body, at)
    _, at = _read_long(body, at)
    at = _skip_optional(body, at, text=False)
    at = _skip_optional(body, at, text=True)
    _, at = _read_long(body, at)  # The kind of the principal, an enum.
    at = _skip_text(body, at)
    if at >= len(body):
        raise DecodeError("schema_violation", "the bytes end before the mac")
    return at


def _skip_text(body: bytes, at: int) -> int:
    length, at = _read_long(body, at)
    return at + length


def _skip_optional(body: bytes, at: int, *, text: bool) -> int:
    branch = body[at : at + 1]
    if branch == _PRESENT:
        return _skip_text(body, at + 1) if text else _read_long(body, at + 1)[1]
    return at + 1


def _read_long(body: bytes, at: int) -> tuple[int, int]:
    """Return an Avro long and the place behind it."""
    number = shift = 0
    while True:
        if at >= len(body):
            raise DecodeError("schema_violation", "the bytes end within a number")
        byte = body[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7
