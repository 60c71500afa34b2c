"""What one decision rests on beside the situation: Z*, rel, external verdicts, the event.

Plain data, built by ``processors.decision`` and read by every module of this package.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from processors.situation import Unit
from processors.view import View
from schemas.outcome import EventReference
from schemas.packet import Coverage
from schemas.row import VerdictRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """Z* in force, what became of R_t in it, and the event that is being decided on.

    ``evidence`` is the packet's Z* minus the units withdrawn since, in the order of E_t
    (spec 5.4). ``relevance`` is rel_i in millionths per unit id of Z*; a unit
    without an entry counts 0. ``attested`` holds external verdicts by row id, the candidate's
    digest in hex, NUL, check.
    """

    decided_by: EventReference
    packet_digest: bytes | None
    evidence: tuple[Unit, ...]
    coverage: tuple[Coverage, ...]
    relevance: Mapping[str, int]
    attested: Mapping[str, VerdictRow]


def read_attested(view: View, digests: Iterable[bytes]) -> dict[str, VerdictRow]:
    """Return the external verdicts on the candidates of these digests, by row id."""
    found: dict[str, VerdictRow] = {}
    for candidate_digest in digests:
        found.update(view.scan(VerdictRow, f"{candidate_digest.hex()}\0"))
    return found
