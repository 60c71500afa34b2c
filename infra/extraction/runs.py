"""Extraction over an embedded log: new utterances read, proposals appended, nothing twice.

The log alone decides: the catalogue active at an utterance, the scene its user was last in,
what is withdrawn or erased, and what was proposed before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from infra.appending import append_events
from infra.extraction.extraction import Extractor, extract
from infra.extraction.lexicon import Lexicon, build_lexicon
from schemas.catalogue import Catalogue
from schemas.codec import DecodeError
from schemas.event import (
    CatalogueActivated,
    ErasureRequested,
    Event,
    Genesis,
    ObservationCorrected,
    ObservationWithdrawn,
    UtteranceObserved,
)
from schemas.observation import FormSubmitted
from schemas.turn import TurnRequested
from streams.embedded import Embedded
from streams.opening import ErasedEventError

READ_MANY: Final = 1_000

Owner = tuple[str, str]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one run read and proposed; ``known`` were proposed before."""

    utterances: int
    proposed: int
    known: int


@dataclass(slots=True)
class Reader:
    """Follows a log in order and says, for each event, what its utterance proposes.

    One instance per partition does the same for the distributed mode: ``read`` is pure but for
    what it remembers of the log so far.
    """

    extractor: Extractor = extract
    catalogue: Catalogue | None = None
    scenes: dict[Owner, str] = field(default_factory=dict)
    lexicons: dict[str, Lexicon] = field(default_factory=dict)

    def read(self, event: Event) -> tuple[Event, ...]:
        """Return the proposals of an event; () for all that is no utterance of the user."""
        payload = event.payload
        owner = (event.tenant, event.user)
        if isinstance(payload, Genesis | CatalogueActivated):
            self.catalogue = payload.catalogue
            self.lexicons.clear()
        elif isinstance(payload, TurnRequested | FormSubmitted):
            self.scenes[owner] = payload.scene or self.scenes.get(owner, "")
        elif isinstance(payload, UtteranceObserved):
            return self.extractor(event, self._find_lexicon(self.scenes.get(owner, "")))
        return ()

    def _find_lexicon(self, scene: str) -> Lexicon:
        if scene not in self.lexicons:
            known = {one.name for one in self.catalogue.scenes} if self.catalogue else set()
            scenes = (scene,) if scene in known else ()
            self.lexicons[scene] = build_lexicon(self.catalogue, scenes)
        return self.lexicons[scene]


def extract_log(
    embedded: Embedded, extractor: Extractor = extract, progress: Progress | None = None
) -> Extracted:
    """Append the proposals of every utterance on a log that are not on it yet; fold nothing.

    An utterance that is withdrawn, corrected or erased later on the log proposes nothing.
    """
    reader = Reader(extractor)
    present: set[tuple[Owner, str]] = set()
    gone: set[tuple[Owner, str]] = set()
    cleared: dict[Owner, int] = {}
    found: list[tuple[int, Event, tuple[Event, ...]]] = []
    for offset, event in read_events(embedded, progress):
        owner = (event.tenant, event.user)
        present.add((owner, event.event_id))
        match event.payload:
            case ErasureRequested(event_ids=()):
                cleared[owner] = offset
            case (
                ObservationWithdrawn(event_ids=ids)
                | ObservationCorrected(event_ids=ids)
                | ErasureRequested(event_ids=ids)
            ):
                gone.update((owner, name) for name in ids)
        proposals = reader.read(event)
        if proposals:
            found.append((offset, event, proposals))
    fresh: list[Event] = []
    known = 0
    utterances = 0
    for offset, event, proposals in found:
        owner = (event.tenant, event.user)
        if (owner, event.event_id) in gone or offset < cleared.get(owner, -1):
            continue
        new = [one for one in proposals if (owner, one.event_id) not in present]
        present.update((owner, one.event_id) for one in new)
        known += len(proposals) - len(new)
        utterances += 1
        fresh += new
    return Extracted(utterances, append_events(embedded, fresh), known)


def read_events(
    embedded: Embedded, progress: Progress | None = None
) -> Iterator[tuple[int, Event]]:
    """Yield offset and event of every record on a log that opens; others have no utterance.

    Raises:
        KeyStoreFailedError: the log is encrypted, and its keys cannot be had.

    """
    bounds = embedded.log.bounds()
    offset = bounds.start
    while offset < bounds.end:
        records = embedded.log.read(offset, limit=READ_MANY)
        if not records:
            return
        for record in records:
            try:
                yield record.offset, embedded.opener.open(record).event
            except (DecodeError, ErasedEventError):
                continue
        offset = records[-1].offset + 1
        if progress is not None:
            progress(offset - bounds.start, bounds.end - offset)
