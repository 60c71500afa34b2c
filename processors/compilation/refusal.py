"""Why an event is not accepted: a reason of the closed list and words for a person (spec 1.11)."""

from typing import NamedTuple

from schemas.fate import Fate, FateStatus, RejectionReason


class Refusal(NamedTuple):
    """A reason, and what names the field, the place and the remedy."""

    reason: RejectionReason
    detail: str


def violate(detail: str) -> Refusal:
    """Return the refusal of a record that does not have its shape."""
    return Refusal(RejectionReason.SCHEMA_VIOLATION, detail)


def reject(refusal: Refusal) -> Fate:
    """Return the fate of a refused event; it takes no seq."""
    return Fate(FateStatus.REJECTED, None, refusal.reason, refusal.detail, "")
