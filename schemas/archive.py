"""What the frames of an archive hold: events as they stood on their log, and what they put out.

Bytes of keys, values and fates are kept as they were; nothing is decoded on the way in or out.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArchivedHeader:
    """One header of a record."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ArchivedEvent:
    """One record of ``events`` at its place, with its fate (the body of a Fate)."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[ArchivedHeader, ...]
    fate: bytes


@dataclass(frozen=True, slots=True)
class ArchivedOutput:
    """One output record; ``offset`` is that of the event which caused it."""

    offset: int
    key: bytes
    value: bytes
