"""The only door between records and bytes: Avro bodies, framing, digests.

The body is Avro binary. On the wire it stands in Avro's single-object encoding, or in the
Confluent format when a registry is used; digests and comparisons are over the body alone
(spec 6.4). Functions generated from the annotations do the work for all that our own writers
write; fastavro judges everything else and other releases' schemas; tests hold both to the avro
package.
"""

import hashlib
import io
import json
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final, TypeVar

import fastavro
from fastavro.read import SchemaResolutionError
from fastavro.schema import fingerprint, to_parsing_canonical_form

from schemas.record import Embodied, RecordError, compile_reader, compile_writer, describe
from schemas.record_reading import compile_reading
from schemas.record_writing import compile_writing

MARKER: Final = b"\xc3\x01"
HEADER_BYTES: Final = 10  # Marker and fingerprint.
FINGERPRINTS_KEPT: Final = 256
"""Schemas whose fingerprint is remembered; taking one costs milliseconds."""

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


@cache
def build_header(cls: Any) -> bytes:
    """Return what stands before a record's body in Avro's single-object encoding."""
    return MARKER + schema_fingerprint(cls)


@lru_cache(maxsize=FINGERPRINTS_KEPT)
def text_fingerprint(text: str) -> bytes:
    """Return the 8-byte CRC-64-AVRO fingerprint, little endian, of a schema text."""
    canonical = to_parsing_canonical_form(json.loads(text))
    return int(fingerprint(canonical, "CRC-64-AVRO"), 16).to_bytes(8, "big")


def encode(record: object) -> bytes:
    """Return the Avro body of a record.

    Raises:
        RecordError: a field does not have its declared type; the message names it.

    """
    cls: Any = type(record)
    try:
        return compile_writing(cls)(record)
    except (TypeError, ValueError):
        return _encode_checked(cls, record)


def encode_once(record: object) -> bytes:
    """Return the Avro body of a record, which keeps it if it has a place for it (``Embodied``)."""
    if not isinstance(record, Embodied):
        return encode(record)
    try:
        return record.body
    except AttributeError:
        body = encode(record)
        object.__setattr__(record, "body", body)
        return body


def _encode_checked(cls: Any, record: object) -> bytes:
    """Encode field by field, so that a wrong one is named."""
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
        DecodeError: ``schema_violation`` when the bytes are not exactly one such record, or
            ``unresolvable`` when the writer's schema does not resolve to today's.

    """
    if writer is None:
        key: Any = cls
        try:
            record, end = compile_reading(key)(body, 0)
        except Exception:
            return _decode_any(cls, body, None)
        if end == len(body):
            return record  # type: ignore[no-any-return]
    return _decode_any(cls, body, writer)


def _decode_any(cls: type[R], body: bytes, writer: Any) -> R:
    """Decode what none of our writers wrote today, or say why it is no record."""
    key: Any = cls
    own, read = parsed_schema(key), compile_reader(key)
    assert read is not None
    buffer = io.BytesIO(body)
    try:
        datum: Any = fastavro.schemaless_reader(
            buffer, writer or own, own if writer else None, return_record_name=True
        )
        if buffer.tell() != len(body):
            raise DecodeError("schema_violation", f"{len(body) - buffer.tell()} bytes too many")
        return read(datum)  # type: ignore[no-any-return]
    except DecodeError:
        raise
    except RecordError as error:
        raise DecodeError("schema_violation", str(error)) from None
    except SchemaResolutionError as error:
        raise DecodeError("unresolvable", str(error)[:200]) from None
    except Exception as error:
        detail = f"no {cls.__name__}: {type(error).__name__}"
        raise DecodeError("schema_violation", detail) from None


@cache
def released_schemas(cls: Any) -> dict[bytes, Any]:
    """Return every released schema of a record class by fingerprint, today's aside.

    A log of any release replays for ever, so no file of ``schemas/avro/released`` is deleted.
    """
    folder = resources.files("schemas") / "avro" / "released"
    texts = [
        item.read_text("utf-8")
        for item in (folder.iterdir() if folder.is_dir() else ())
        if item.name.startswith(f"{cls.__name__}.") and item.name.endswith(".avsc")
    ]
    return {text_fingerprint(text): fastavro.parse_schema(json.loads(text)) for text in texts}


def frame(record: object) -> bytes:
    """Return a record in Avro's single-object encoding."""
    cls: Any = type(record)
    return build_header(cls) + encode_once(record)


def unframe(cls: type[R], data: bytes | None) -> tuple[R, bytes]:
    """Return the record and the body of a single-object encoding.

    Raises:
        DecodeError: ``null_value``, ``empty_value``, ``bad_magic``, ``unknown_schema_id``,
            ``unresolvable`` or ``schema_violation``.

    """
    if data is None:
        raise DecodeError("null_value", "no value")
    key: Any = cls
    body = data[HEADER_BYTES:]
    if data[:HEADER_BYTES] == build_header(key):
        return decode(cls, body), body
    if not data:
        raise DecodeError("empty_value", "an empty value")
    if data[:2] != MARKER or len(data) < HEADER_BYTES:
        raise DecodeError("bad_magic", f"starts with {data[:2].hex()}, not {MARKER.hex()}")
    named = data[2:HEADER_BYTES]
    writer = released_schemas(key).get(named)
    if writer is None:
        raise DecodeError("unknown_schema_id", named.hex())
    return decode(cls, body, writer), body


def digest(record: object) -> bytes:
    """Return the SHA-256 of a record's body."""
    return hashlib.sha256(encode_once(record)).digest()
