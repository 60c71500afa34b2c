"""Ids and digests from content and position (spec 6.1); length-prefixed, never concatenated."""

import hashlib
from functools import lru_cache
from typing import Final

from schemas.catalogue import Catalogue
from schemas.codec import digest
from schemas.predicate import Predicate

_DIGESTS_KEPT: Final = 16_384  # Of predicates: their fields are texts, so equal means the same.


def prefix_lengths(*parts: bytes) -> bytes:
    """Return the parts, each behind its length in four bytes, so that no two lists collide."""
    return b"".join([len(part).to_bytes(4, "big") + part for part in parts])


@lru_cache(maxsize=65_536)
def record_key(tenant: str, user: str) -> bytes:
    """Return the record key of a user (spec 1.1); control records have the key of ("", "")."""
    return prefix_lengths(tenant.encode(), user.encode())


def outcome_id(*, tenant: str, user: str, turn_id: str, seq: int) -> bytes:
    """Return the id shared by all outcome kinds of one turn: position, never content."""
    parts = ("outcome", tenant, user, turn_id, str(seq))
    return hashlib.sha256(prefix_lengths(*(part.encode() for part in parts))).digest()


def extend_chain(chain: bytes, event_digest: bytes) -> bytes:
    """Return the head of a user's digest chain after one more accepted event."""
    return hashlib.sha256(chain + event_digest).digest()


@lru_cache(maxsize=_DIGESTS_KEPT)
def predicate_digest(predicate: Predicate) -> bytes:
    """Return what a user confirms: the SHA-256 of the predicate's body."""
    return digest(predicate)


def catalogue_digest(catalogue: Catalogue) -> bytes:
    """Return the name of a catalogue: the SHA-256 of its body."""
    return digest(catalogue)
