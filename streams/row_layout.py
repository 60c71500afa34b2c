"""Where rows stand and in which format: a row's key, and the row of stored bytes.

Reading and keeping rows are elsewhere (``row_reader``, ``user_cache``).
"""

from typing import Final, TypeVar

from schemas.codec import decode
from schemas.identity import record_key
from schemas.row import KIND_OF, PARTITION_KINDS
from streams.failures import RowFormatUnknownError

R = TypeVar("R")

ROW_FORMAT: Final = b"\x01"
PARTITION: Final = b"p"
PARTITION_RECORDS: Final = frozenset(
    record for record, kind in KIND_OF.items() if kind in PARTITION_KINDS
)
_KIND_BYTE: Final = {record: bytes((kind,)) for record, kind in KIND_OF.items()}


def user_prefix(tenant: str, user: str) -> bytes:
    """Return the key prefix of all rows of one user."""
    return b"u" + record_key(tenant, user)


def row_key(prefix: bytes, record: type, row_id: str) -> bytes:
    """Return the key of a row; rows of the partition stand apart from those of users."""
    head = PARTITION if record in PARTITION_RECORDS else prefix
    return head + _KIND_BYTE[record] + row_id.encode()


def decode_row(record: type[R], data: bytes) -> R:
    """Return the row of stored bytes.

    Raises:
        RowFormatUnknownError: the format byte is not one that this build reads.

    """
    if data[:1] != ROW_FORMAT:
        raise RowFormatUnknownError(
            f"{record.__name__}: a row has format {data[:1].hex() or 'none'}, this build reads "
            f"{ROW_FORMAT.hex()} alone: use the build that wrote the rows"
        )
    return decode(record, data[1:])
