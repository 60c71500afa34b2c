"""The control point over an embedded log: one process tells, folds and reads."""

from collections.abc import Sequence
from typing import Any, Final

from infra.appending import append_events
from infra.gateway.port import ControlError, Outcome, Standing, Told
from infra.keys import KeysError
from infra.records import OUTCOME_TOPICS, read_output
from processors.compilation.draft import REGIME_ID
from processors.compilation.proposals import OPEN
from schemas.catalogue import Catalogue
from schemas.codec import decode
from schemas.event import Event
from schemas.fate import Fate
from schemas.ledger import Head
from schemas.packet import Packet
from schemas.row import (
    CatalogueRow,
    PredicateRow,
    ProposalRow,
    QuestionRow,
    RegimeRow,
    SlotRow,
)
from streams.embedded import Embedded
from streams.failures import StreamsError
from streams.sealing import ErasedIdReusedError
from streams.user_cache import UserCache

WAIT_MS: Final = 30_000
_BEHIND_ALL: Final = 2**31

Turn = tuple[str, str, str]


class EmbeddedControl:
    """``ControlPort`` over one folder; the caller opens and closes it, and calls from one thread.

    Outcomes are looked for behind the place where the last look ended, so that a call costs the
    same at any length of the log.
    """

    def __init__(self, embedded: Embedded) -> None:
        """Stand at the end of the log as it is now; older turns are found by a whole look."""
        self._embedded = embedded
        self._seen: dict[str, tuple[int, int] | None] = {}
        self._found: dict[Turn, Any] = {}

    def tell(self, events: Sequence[Event]) -> tuple[Told, ...]:
        """Append events durably, fold them, and return the fate of each.

        Raises:
            ControlError: the log cannot be written or folded just now.

        """
        embedded = self._embedded
        try:
            before = embedded.head()
            first = embedded.log.bounds().end
            append_events(embedded, events)
            if not events:
                return ()
            embedded.wait_for(embedded.log.bounds().end - 1, timeout_ms=WAIT_MS)
            fates = self._read_fates(before, first)
        except (StreamsError, KeysError, ErasedIdReusedError) as error:
            raise ControlError(str(error)) from None
        return tuple(_report(event, fate) for event, fate in zip(events, fates, strict=False))

    def find_outcome(self, tenant: str, user: str, turn_id: str) -> Outcome | Packet | None:
        """Return the outcome of a turn, else its newest packet, else None."""
        for topic in ("packets", *OUTCOME_TOPICS):
            for output in self._embedded.outputs(topic, after=self._seen.get(topic)):
                record = read_output(topic, output.record.value or b"")
                turn = (record.tenant, record.user, record.turn_id)
                self._found[turn] = record
                self._seen[topic] = (output.offset, output.place)
        found: Outcome | Packet | None = self._found.get((tenant, user, turn_id))
        return found

    def look(self, tenant: str, user: str) -> Standing:
        """Return what stands for a user now."""
        with self._embedded.reading() as store:
            if store is None:
                return Standing((), (), (), ())
            key = self._embedded.opener.key_of(tenant, user)
            view = UserCache().view(store, tenant, user, key)
            return Standing(
                contract=tuple(row for _, row in view.scan(PredicateRow) if row.ended_seq is None),
                proposals=tuple(row for _, row in view.scan(ProposalRow) if row.status == OPEN),
                questions=tuple(
                    (row_id, row) for row_id, row in view.scan(QuestionRow) if row.status == OPEN
                ),
                slots=tuple(row for _, row in view.scan(SlotRow)),
            )

    def find_catalogue(self) -> Catalogue | None:
        """Return the catalogue that is active now, or None before the log has begun."""
        self._embedded.fold_pending()
        with self._embedded.reading() as store:
            if store is None:
                return None
            view = UserCache().view(store, "", "")
            regime = view.get(RegimeRow, REGIME_ID)
            if regime is None:
                return None
            row = view.get(CatalogueRow, regime.catalogue_digest.hex())
            return None if row is None else row.catalogue

    def _read_fates(self, before: Head | None, first: int) -> list[Fate]:
        fates = []
        with self._embedded.reading() as store:
            for batch in () if store is None else store.records(before.batch if before else 0):
                for place, data in enumerate(batch.fates):
                    if batch.first_offset + place >= first:
                        fates.append(decode(Fate, data))
        return fates


def _report(event: Event, fate: Fate) -> Told:
    reason = "" if fate.reason is None else fate.reason.value
    return Told(event.event_id, fate.status.value, fate.seq, reason, fate.detail, fate.ignored)
