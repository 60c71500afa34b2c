"""Output values back to records, for people and audits."""

from typing import Any, Final

from schemas.codec import MARKER, DecodeError, decode, schema_fingerprint, unframe
from schemas.outcome import Commitment, Rejection, RepairAct, Surface, TurnFailure
from schemas.packet import Packet
from schemas.row import CONTRACT_KINDS, ROW_RECORDS, STATE_KINDS

OUTPUT_RECORDS: Final[dict[str, Any]] = {
    "commitments": Commitment,
    "repairs": RepairAct,
    "failures": TurnFailure,
    "packets": Packet,
    "surfaces": Surface,
    "rejections": Rejection,
}
TABLES: Final = {"contracts": CONTRACT_KINDS, "states": STATE_KINDS}
TOPICS: Final = (*OUTPUT_RECORDS, *TABLES)
OUTCOME_TOPICS: Final = ("commitments", "repairs", "failures")


def read_output(topic: str, value: bytes) -> Any:
    """Return the record of one value of an output topic.

    Raises:
        DecodeError: the value is no record of that topic.

    """
    record = OUTPUT_RECORDS.get(topic)
    if record is not None:
        return unframe(record, value)[0]
    named = value[2:10]
    for kind in sorted(TABLES[topic]):
        cls: Any = ROW_RECORDS[kind]
        if value[:2] == MARKER and named == schema_fingerprint(cls):
            return decode(cls, value[10:])
    raise DecodeError("unknown_schema_id", named.hex())
