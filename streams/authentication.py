"""What checking an event's mac gives, for the stamp that the core reads (spec 1.6).

The keys come through a port; where they are kept is the affair of infra. A replay without keys
takes the answer from the ledger, since it was decided with outside help (spec 1.3).
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from processors.compilation.admission import FAILED, VERIFIED
from schemas.event import Event
from schemas.fate import Fate, RejectionReason
from schemas.signing import is_signed_with

OPEN: Final = "open"
ABSENT: Final = "absent"

_STATED: Final = re.compile(r"mac: (open|absent|failed)\b")


class KeyRing(Protocol):
    """The keys of principals, each of one tenant and one kind; control records' tenant is ""."""

    def find_keys(self, tenant: str, kind: str) -> Sequence[bytes]:
        """Return every key that may have signed, the one to sign with last; () if there is none."""
        ...


class Authenticator(Protocol):
    """Judges the mac of one event."""

    def judge(self, event: Event, body: bytes, offset: int) -> str:
        """Return "open", "verified", "failed" or "absent"."""
        ...


class NoKeys:
    """The authenticator of an open log: principals are taken at their word."""

    def judge(self, event: Event, body: bytes, offset: int) -> str:
        """Return "open"."""
        del event, body, offset
        return OPEN


class MacCheck:
    """Judges macs with the keys of a ring: of the envelope's tenant and kind, and no other."""

    def __init__(self, keys: KeyRing) -> None:
        """Check against the keys of this ring."""
        self._keys = keys

    def judge(self, event: Event, body: bytes, offset: int) -> str:
        """Return "verified" only for a mac under a key of this tenant and principal kind."""
        del offset
        mac = event.mac
        if mac is None:
            return ABSENT
        keys = self._keys.find_keys(event.tenant, event.principal.kind.value)
        found = [is_signed_with(key, body, mac) for key in keys]
        return VERIFIED if any(found) else FAILED


class RecordedCheck:
    """Takes from the ledger what checking once gave, for a replay that holds no keys."""

    def __init__(self, find_fate: Callable[[int], Fate | None]) -> None:
        """Read the fate of an offset from what was recorded."""
        self._find_fate = find_fate

    def judge(self, event: Event, body: bytes, offset: int) -> str:
        """Return what the recorded fate implies; an event never folded has no answer."""
        del event, body
        fate = self._find_fate(offset)
        if fate is None:
            return ABSENT
        if fate.reason is not RejectionReason.UNAUTHENTICATED:
            return VERIFIED
        stated = _STATED.match(fate.detail)
        return FAILED if stated is None else stated[1]
