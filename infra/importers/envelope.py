"""Envelopes of imported events: ids and times that depend on the source alone.

Importing the same files twice gives the same bytes, so a second import changes nothing.
"""

from dataclasses import dataclass, replace
from typing import Final

from infra.genesis import build_genesis as begin_log
from schemas.catalogue import Catalogue
from schemas.event import Event, Principal, PrincipalKind, UserPayload

OPERATOR: Final = Principal(PrincipalKind.OPERATOR, "importer")


@dataclass(slots=True)
class Scribe:
    """Writes the envelopes of one user's events.

    ``place`` is what the next id begins with; a number is added to it, so that ids name the
    place in the source. ``at_ms`` is the time of the next event; it advances by a millisecond
    per event, so that effective times keep the order.
    """

    tenant: str
    user: str
    at_ms: int
    utc_offset_min: int
    place: str = ""
    number: int = 0

    def move(self, place: str, *, at_ms: int) -> None:
        """Go on at another place of the source; time never goes back."""
        self.place = place
        self.number = 0
        self.at_ms = max(self.at_ms, at_ms)

    def write(
        self,
        principal: Principal,
        payload: UserPayload,
        *,
        name: str | None = None,
        caused_by: str | None = None,
        derived_from: tuple[str, ...] = (),
    ) -> Event:
        """Return the next event; ``name`` replaces the number where the caller has a name."""
        if name is None:
            name = str(self.number)
            self.number += 1
        at_ms = self.at_ms
        self.at_ms += 1
        return Event(
            event_id=f"{self.place}/{name}",
            tenant=self.tenant,
            user=self.user,
            occurred_at_ms=at_ms,
            utc_offset_min=self.utc_offset_min,
            zone=None,
            principal=principal,
            mac=None,
            causation_id=caused_by,
            correlation_id=None,
            derived_from=derived_from,
            source=None,
            source_seq=None,
            payload=payload,
        )


def build_genesis(source: str, catalogue: Catalogue, *, at_ms: int, utc_offset_min: int) -> Event:
    """Return the record that a log of imported histories begins with.

    The importer is an operator with the rights to confirm and to operate.
    """
    return replace(
        begin_log(catalogue, operators=(OPERATOR.id,)),
        event_id=f"{source}/genesis",
        occurred_at_ms=at_ms,
        utc_offset_min=utc_offset_min,
        principal=OPERATOR,
    )
