"""The bytes in which the embedded store keeps an output record.

Private to the store: what other programs read are the record's own key and value.
"""

import struct
from typing import Final

from streams.ports import OutputRecord

_OUTPUT: Final = struct.Struct(">IqH")
_HEADER: Final = struct.Struct(">HI")


def encode_output(record: OutputRecord) -> bytes:
    """Return an output as the store keeps it."""
    key, value, headers = record.key, record.value, record.headers
    length = -1 if value is None else len(value)
    parts = [_OUTPUT.pack(len(key), length, len(headers)), key, value or b""]
    for name, content in headers:
        encoded = name.encode()
        parts += (_HEADER.pack(len(encoded), len(content)), encoded, content)
    return b"".join(parts)


def decode_output(topic: str, content: bytes) -> OutputRecord:
    """Return the output that the store keeps in these bytes."""
    key_length, value_length, header_count = _OUTPUT.unpack_from(content)
    position = _OUTPUT.size
    key = content[position : position + key_length]
    position += key_length
    value = None
    if value_length >= 0:
        value = content[position : position + value_length]
        position += value_length
    headers: list[tuple[str, bytes]] = []
    for _ in range(header_count):
        name_length, length = _HEADER.unpack_from(content, position)
        position += _HEADER.size
        name = content[position : position + name_length].decode()
        position += name_length
        headers.append((name, content[position : position + length]))
        position += length
    return OutputRecord(topic, key, value, tuple(headers))
