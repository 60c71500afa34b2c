"""The only door between records and bytes: Avro bodies, framing, digests.

The body is Avro binary. On the wire it stands in Avro's single-object encoding, or in the
Confluent format when a registry is used; digests and comparisons are over the body alone
(spec 6.4). fastavro does the work; tests hold it to the bytes of the avro package.
"""

import hashlib
import io
import json
from functools import cache
from typing import Any, Final, TypeVar

import fastavro
from fastavro.schema import fingerprint, to_parsing_canonical_form

from schemas.record import RecordError, compile_reader, compile_writer, describe

MARKER: Final = b"\xc3\x01"
HEADER_BYTES: Final = 10  # Marker and fingerprint.

R = TypeVar("R")


class DecodeError(ValueError):
    """Bytes that are no record; ``reason`` is one of the closed list of spec 1.11."""

    def __init__(self, reason: str, detail: str) -> None:
        """Say why, and with what detail."""
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@cache
def schema_text(cls: Any) -> str:
    """Return the published schema of a record class as JSON text."""
    return json.dumps(describe(cls), indent=2, ensure_ascii=False) + "\n"


@cache
def parsed_schema(cls: Any) -> Any:
    """Return the schema of a record class as fastavro takes it."""
    return fastavro.parse_schema(describe(cls))


@cache
def schema_fingerprint(cls: Any) -> bytes:
    """Return the 8-byte CRC-64-AVRO fingerprint, little endian, of a record class."""
    return text_fingerprint(schema_text(cls))


def text_fingerprint(text: str) -> bytes:
    """Return the 8-byte CRC-64-AVRO fingerprint, little endian, of a schema text."""
    canonical = to_parsing_canonical_form(json.loads(text))
    return int(fingerprint(canonical, "CRC-64-AVRO"), 16).to_bytes(8, "big")


def encode(record: object) -> bytes:
    """Return the Avro body of a record.

    Raises:
        RecordError: a field does not have its declared type; the message names it.

    """
    cls = type(record)
    buffer = io.BytesIO()
    try:
        fastavro.schemaless_writer(
            buffer, parsed_schema(cls), compile_writer(cls)(record), strict=True
        )
    except UnicodeEncodeError:
        raise RecordError(f"{cls.__name__}: text with a lone surrogate") from None
    return buffer.getvalue()


def decode(cls: type[R], body: bytes, writer: Any = None) -> R:
    """Return the record of an Avro body; ``writer`` is the schema it was written under.

    Raises:
        DecodeError: ``schema_violation`` when the bytes are not exactly one such record.

    """
    buffer = io.BytesIO(body)
    try:
        datum = fastavro.schemaless_reader(
            buffer, writer or parsed_schema(cls), parsed_schema(cls) if writer else None,
            return_record_name=True,
        )  # fmt: skip
        if buffer.tell() != len(body):
            raise DecodeError("schema_violation", f"{len(body) - buffer.tell()} bytes too many")
        read = compile_reader(cls)
        assert read is not None
        return read(datum)  # type: ignore[no-any-return]
    except DecodeError:
        raise
    except RecordError as error:
        raise DecodeError("schema_violation", str(error)) from None
    except Exception as error:
        detail = f"no {cls.__name__}: {type(error).__name__}"
        raise DecodeError("schema_violation", detail) from None


def frame(record: object) -> bytes:
    """Return a record in Avro's single-object encoding."""
    return MARKER + schema_fingerprint(type(record)) + encode(record)


def unframe(cls: type[R], data: bytes | None) -> tuple[R, bytes]:
    """Return the record and the body of a single-object encoding.

    Raises:
        DecodeError: ``null_value``, ``empty_value``, ``bad_magic``, ``unknown_schema_id`` or
            ``schema_violation``.

    """
    body = strip_frame(cls, data)
    return decode(cls, body), body


def strip_frame(cls: type, data: bytes | None) -> bytes:
    """Return the body behind the frame of ``cls``; errors as in ``unframe``."""
    if data is None:
        raise DecodeError("null_value", "no value")
    if not data:
        raise DecodeError("empty_value", "an empty value")
    if data[:2] != MARKER or len(data) < HEADER_BYTES:
        raise DecodeError("bad_magic", f"starts with {data[:2].hex()}, not {MARKER.hex()}")
    if data[2:HEADER_BYTES] != schema_fingerprint(cls):
        raise DecodeError("unknown_schema_id", data[2:HEADER_BYTES].hex())
    return data[HEADER_BYTES:]


def digest(record: object) -> bytes:
    """Return the SHA-256 of a record's body."""
    return hashlib.sha256(encode(record)).digest()
