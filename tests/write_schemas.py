"""Writes the published .avsc files from the records; ``make schemas`` runs it.

A released schema is never edited: before a change of a record, its file is copied to
``schemas/avro/released/NAME.N.avsc``.
"""

from pathlib import Path

from schemas import archive, control, fate, ledger, outcome, packet, predicate, sealed
from schemas.catalogue import Catalogue
from schemas.codec import schema_text
from schemas.event import Event
from schemas.row import ROW_RECORDS

FOLDER = Path(__file__).parent.parent / "schemas" / "avro"

PUBLISHED = (
    Event,
    Catalogue,
    predicate.Predicate,
    packet.Packet,
    outcome.Commitment,
    outcome.RepairAct,
    outcome.TurnFailure,
    outcome.Certificate,
    outcome.Surface,
    outcome.Rejection,
    fate.Fate,
    control.Weights,
    ledger.BatchRecord,
    ledger.Head,
    archive.ArchivedEvent,
    archive.ArchivedOutput,
    sealed.SealedEvent,
    sealed.SealedOutput,
    *ROW_RECORDS.values(),
)


def main() -> None:
    """Write one file for each published record."""
    for record in PUBLISHED:
        (FOLDER / f"{record.__name__}.avsc").write_text(schema_text(record), "utf-8")


if __name__ == "__main__":
    main()
