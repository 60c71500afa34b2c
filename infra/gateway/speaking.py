"""Envelopes for callers who have none: what a user, an agent or a tool says now.

The clock and the zone are the caller's; ids are digests of what is said and when, so a repeated
call a moment later is another event unless the caller names its id.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from schemas.candidate import Candidate
from schemas.event import Event, Principal, PrincipalKind, UserPayload
from schemas.turn import CandidatesProposed

AGENT: Final = Principal(PrincipalKind.ASSISTANT, "agent")


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose events these are and on whose clock; ``utc_offset_min`` may be None with a zone."""

    tenant: str
    user: str
    utc_offset_min: int | None = 0
    zone: str | None = None

    def say(
        self,
        payload: UserPayload,
        *,
        by: Principal,
        at_ms: int,
        event_id: str | None = None,
        derived_from: tuple[str, ...] = (),
    ) -> Event:
        """Return the event of a payload."""
        parts = (self.tenant, self.user, str(at_ms), by.kind.value, by.id, repr(payload))
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
        return Event(
            event_id=event_id or digest[:32],
            tenant=self.tenant,
            user=self.user,
            occurred_at_ms=at_ms,
            utc_offset_min=self.utc_offset_min,
            zone=self.zone,
            principal=by,
            mac=None,
            causation_id=None,
            correlation_id=None,
            derived_from=derived_from,
            source=None,
            source_seq=None,
            payload=payload,
        )

    @property
    def principal(self) -> Principal:
        """The user as principal: only for the edge that holds the user's own channel."""
        return Principal(PrincipalKind.USER, self.user)


def propose_candidates(
    turn_id: str, candidates: tuple[Candidate, ...], packet_digest: bytes | None = None
) -> CandidatesProposed:
    """Return the caller's own candidates for a turn."""
    return CandidatesProposed(
        turn_id=turn_id,
        packet_digest=packet_digest,
        candidates=candidates,
        raw_output=None,
        decoding=None,
        attempts=(),
    )
