"""The fate of one record of ``events``, as it stands in the ledger (spec 1.3, 1.11)."""

from dataclasses import dataclass
from enum import StrEnum


class FateStatus(StrEnum):
    """What became of a record."""

    UNKNOWN = "unknown"
    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"


class RejectionReason(StrEnum):
    """The closed list of spec 1.11."""

    UNKNOWN = "unknown"
    MISSING_KEY = "missing_key"
    NULL_VALUE = "null_value"
    EMPTY_VALUE = "empty_value"
    BAD_MAGIC = "bad_magic"
    UNKNOWN_SCHEMA_ID = "unknown_schema_id"
    UNRESOLVABLE = "unresolvable"
    SCHEMA_VIOLATION = "schema_violation"
    UNKNOWN_OPERATION = "unknown_operation"
    EVENT_ID_CONFLICT = "event_id_conflict"
    KEY_USER_MISMATCH = "key_user_mismatch"
    UNAUTHENTICATED = "unauthenticated"
    NOT_PERMITTED = "not_permitted"
    STALE_DIGEST = "stale_digest"
    UNKNOWN_TURN = "unknown_turn"
    TOO_LARGE = "too_large"
    TIME_WITHOUT_ZONE = "time_without_zone"
    TIME_AHEAD = "time_ahead"
    WRONG_PARTITION = "wrong_partition"
    CORE_FAULT = "core_fault"
    LIMIT_EXCEEDED = "limit_exceeded"


@dataclass(frozen=True, slots=True)
class Fate:
    """Accepted with a seq, a counted duplicate, or rejected with a reason.

    ``ignored`` says why an accepted event had no effect ("stale_packet", "turn_ended", ...).
    """

    status: FateStatus
    seq: int | None
    reason: RejectionReason | None
    detail: str
    ignored: str
