"""One utterance in, proposals out: the port of every extractor, and the one made of rules.

The same utterance and the same words give the same events, ids included. Whatever is found is
worth ``inferred`` at most, and only the user makes it more (spec 1.8, 1.10).
"""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from infra.extraction.assembling import read_proposals
from infra.extraction.lexicon import Lexicon
from infra.extraction.proposals import Proposal
from schemas.codec import encode
from schemas.event import Event, Principal, PrincipalKind, UserPayload
from schemas.identity import prefix_lengths
from schemas.observation import UtteranceObserved, UtteranceOrigin

RULES: Final = Principal(PrincipalKind.GENERATOR, "extractor:rules-2")
"""The extractor made of rules; another set of rules gets another number."""
PROPOSALS_MAX: Final = 32
"""An utterance that would mean more than this is a document, and proposes nothing."""


class Extractor(Protocol):
    """What reads proposals out of a user's utterance; by rules, or with a model."""

    def __call__(self, event: Event, lexicon: Lexicon) -> tuple[Event, ...]:
        """Return the events that an utterance gives rise to, in order of place."""
        ...


def extract(event: Event, lexicon: Lexicon) -> tuple[Event, ...]:
    """Return the HintExtracted and PredicateProposed events of one event, by rules alone.

    Only what the user said counts: text of assistants, tools, documents, summaries and recalled
    blocks gives (), as does every other payload. Relative time is resolved in the event's own
    zone, else at its offset.
    """
    payload = event.payload
    if not isinstance(payload, UtteranceObserved) or not is_own_word(event):
        return ()
    if payload.language not in {None, "en"} and not str(payload.language).startswith("en-"):
        return ()
    proposals = read_proposals(payload.text, lexicon, local_time(event), event.zone)
    if len(proposals) > PROPOSALS_MAX:
        return ()
    return tuple(build_event(event, proposal, RULES) for proposal in proposals)


def is_own_word(event: Event) -> bool:
    """Return whether an event is a text that the user said, first-hand."""
    payload = event.payload
    return (
        isinstance(payload, UtteranceObserved)
        and event.principal.kind is PrincipalKind.USER
        and payload.origin is UtteranceOrigin.SAID
        and not event.derived_from
    )


def local_time(event: Event) -> datetime:
    """Return the event's time on the user's own clock, without zone."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=event.occurred_at_ms)
    if event.zone is not None:
        try:
            return at.astimezone(ZoneInfo(event.zone)).replace(tzinfo=None)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass  # Not a zone of the tables here; the offset, where given, is as true.
    offset = timezone(timedelta(minutes=event.utc_offset_min or 0))
    return at.astimezone(offset).replace(tzinfo=None)


def build_event(source: Event, proposal: Proposal, by: Principal) -> Event:
    """Return the event of one proposal: its id is a digest of the source and the payload.

    ``correlation_id`` names the span it was read from, as ``event id[start:end]``.
    """
    draft = replace(
        source,
        event_id="",
        principal=by,
        mac=None,
        causation_id=source.event_id,
        correlation_id=f"{source.event_id}[{proposal.start}:{proposal.end}]",
        derived_from=(source.event_id,),
        source=None,
        source_seq=None,
        payload=proposal.build_payload(source.event_id),
    )
    return replace(draft, event_id=name_event(source.event_id, draft.payload, draft.correlation_id))


def name_event(source_id: str, payload: UserPayload | object, span: str | None) -> str:
    """Return the id of what was read from an event: a digest of source, span and payload."""
    body = prefix_lengths(source_id.encode(), (span or "").encode(), encode(payload))
    return "x:" + hashlib.sha256(body).hexdigest()[:40]
