"""What an archive's manifest says of its origin: rulesets, catalogues and schemas in it.

Read from the records themselves while they pass, at writing and again at verifying.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from infra.archive.manifest import SchemaEntry
from infra.records import OUTPUT_RECORDS
from schemas.archive import ArchivedEvent, ArchivedOutput
from schemas.codec import (
    HEADER_BYTES,
    MARKER,
    DecodeError,
    decode,
    schema_fingerprint,
    schema_text,
    unframe,
)
from schemas.control import CatalogueActivated, Genesis, RulesetActivated
from schemas.event import Event
from schemas.fate import Fate, FateStatus
from schemas.identity import catalogue_digest, record_key

_CONTROL_KEY: Final = record_key("", "")


@dataclass(slots=True)
class Provenance:
    """Rulesets and catalogues in the order in which they came into force, each named once."""

    rulesets: list[int] = field(default_factory=list)
    catalogues: list[bytes] = field(default_factory=list)
    records: dict[str, Any] = field(default_factory=dict)

    def note_event(self, key: bytes | None, value: bytes | None, fate: bytes) -> None:
        """Take note of what one record of ``events`` put in force."""
        if value is not None and value[:HEADER_BYTES] == MARKER + schema_fingerprint(Event):
            self.records["Event"] = Event
        if key == _CONTROL_KEY and decode(Fate, fate).status is FateStatus.ACCEPTED:
            self.note_control(value)

    def note_control(self, value: bytes | None) -> None:
        """Take note of what an accepted control record put in force."""
        try:
            payload = unframe(Event, value)[0].payload
        except DecodeError:
            return
        if isinstance(payload, Genesis | RulesetActivated) and payload.ruleset not in self.rulesets:
            self.rulesets.append(payload.ruleset)
        if isinstance(payload, Genesis | CatalogueActivated):
            digest = catalogue_digest(payload.catalogue)
            if digest not in self.catalogues:
                self.catalogues.append(digest)

    def note_output(self, topic: str) -> None:
        """Take note of the record that a topic holds."""
        self.records[OUTPUT_RECORDS[topic].__name__] = OUTPUT_RECORDS[topic]

    def describe_schemas(self) -> tuple[SchemaEntry, ...]:
        """Return the schemas of everything noted, sorted by name."""
        own: dict[str, Any] = {
            "ArchivedEvent": ArchivedEvent,
            "ArchivedOutput": ArchivedOutput,
            "Fate": Fate,
        }
        return tuple(
            SchemaEntry(name, schema_fingerprint(record), schema_text(record))
            for name, record in sorted((self.records | own).items())
        )
