"""The generator: a packet in, CandidatesProposed or GenerationFailed out, as an event.

Embedded commands and the service on Kafka use this code alike. It sees the packet and the
catalogue, no log and no history.
"""

import hashlib
from typing import Final

from infra.backends.port import Backend, Call, Message, Reply
from infra.generation.answer import Answer, Broken, read_answer
from infra.generation.asking import Asked, DecodingSettings, ask
from infra.generation.prompt import build_prompt
from infra.generation.schema import build_schema
from schemas.catalogue import Catalogue
from schemas.codec import digest, encode
from schemas.event import CandidatesProposed, Event, GenerationFailed, Principal, PrincipalKind
from schemas.identity import prefix_lengths
from schemas.packet import Packet
from schemas.turn import SurfaceProposed
from streams.clock import Clock, SystemClock

AGAIN: Final = "Your last answer was not in this form: give exactly one JSON object in it."


class Generator:
    """Answers packets with one backend and one way of decoding."""

    def __init__(
        self, backend: Backend, settings: DecodingSettings | None = None, clock: Clock | None = None
    ) -> None:
        """Use a backend that the caller closes."""
        self.backend = backend
        self.settings = DecodingSettings() if settings is None else settings
        self.clock = SystemClock() if clock is None else clock

    def answer(self, packet: Packet, catalogue: Catalogue) -> Event:
        """Return the event that answers a packet, whatever the backend does (spec 5.12)."""
        asked = ask_candidates(packet, catalogue, self.backend, self.settings, self.clock)
        payload = conclude(packet, asked)
        at_ms = min(packet.as_of_ms + asked.latency_ms, self.clock.now_ms())
        return build_event(
            payload,
            tenant=packet.tenant,
            user=packet.user,
            subject=digest(packet),
            backend=self.backend.kind,
            at_ms=at_ms,
        )


def ask_candidates(
    packet: Packet,
    catalogue: Catalogue,
    backend: Backend,
    settings: DecodingSettings,
    clock: Clock | None = None,
) -> Asked[Answer]:
    """Ask for the candidates of a packet."""
    subject = digest(packet)
    messages = build_prompt(packet, catalogue, candidates_max=settings.candidates_max)
    schema = build_schema(packet, catalogue, candidates_max=settings.candidates_max)

    def build_call(attempt: int) -> Call:
        return Call(
            subject=subject,
            attempt=attempt,
            messages=messages if attempt == 1 else press(messages),
            schema=schema,
            temperature=settings.temperature,
            tokens_max=settings.tokens_max,
            timeout_ms=settings.timeout_ms,
            seed=None if settings.seed is None else settings.seed + attempt - 1,
        )

    def read(reply: Reply) -> Answer | Broken:
        return read_answer(reply.text, reply.finish_reason, catalogue)

    return ask(backend, settings, build_call=build_call, read=read, clock=clock)


def press(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages of a retry: the rules say that the last answer was none.

    What was wrong is not repeated, so that a hostile text gains no echo.
    """
    return (Message(messages[0].role, f"{messages[0].content} {AGAIN}"), *messages[1:])


def conclude(packet: Packet, asked: Asked[Answer]) -> CandidatesProposed | GenerationFailed:
    """Return the payload that answers a packet: candidates, or the last attempt's failure."""
    read = asked.read
    if isinstance(read, Broken):
        return GenerationFailed(
            turn_id=packet.turn_id,
            packet_digest=digest(packet),
            kind=read.kind,
            raw_output=asked.raw_output,
            decoding=asked.decoding,
            attempts=asked.attempts,
        )
    return CandidatesProposed(
        turn_id=packet.turn_id,
        packet_digest=digest(packet),
        candidates=read.candidates,
        raw_output=asked.raw_output,
        decoding=asked.decoding,
        attempts=asked.attempts,
    )


def build_event(
    payload: CandidatesProposed | GenerationFailed | SurfaceProposed,
    *,
    tenant: str,
    user: str,
    subject: bytes,
    backend: str,
    at_ms: int,
) -> Event:
    """Return a generator's event; its id is a digest of turn, subject and body.

    So a resend is a duplicate, and another sample for the same packet is late and ignored.
    """
    parts = (payload.turn_id.encode(), subject, encode(payload))
    return Event(
        event_id=hashlib.sha256(prefix_lengths(*parts)).hexdigest(),
        tenant=tenant,
        user=user,
        occurred_at_ms=at_ms,
        utc_offset_min=0,
        zone=None,
        principal=Principal(PrincipalKind.GENERATOR, backend),
        mac=None,
        causation_id=payload.turn_id,
        correlation_id=None,
        derived_from=(),
        source=None,
        source_seq=None,
        payload=payload,
    )
