"""Asking a backend until it answers: retries, waits, and a record of every attempt.

What is asked and how an answer is read come from the caller; here is only how often and how
long. All times are measured, none decides anything in the core.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from infra.backends.port import Backend, BackendError, BackendTimeoutError, Call, Reply
from infra.generation.answer import Broken
from schemas.candidate import Attempt, Decoding
from schemas.turn import FailureKind
from streams.clock import Clock, SystemClock

T = TypeVar("T")

RAW_BYTES_MAX: Final = 32_768
SAID_CHARACTERS_MAX: Final = 160
ANSWERED: Final = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingSettings:
    """How answers are made; the paper's values. Temperature in millionths.

    ``retries_max`` counts calls after the first. ``timeout_ms`` bounds each call. With a seed,
    each retry takes the next one, since the same seed would say the same again.
    """

    temperature: int = 200_000
    tokens_max: int = 2_200
    retries_max: int = 3
    timeout_ms: int = 180_000
    seed: int | None = 1
    candidates_max: int = 1


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came of asking: the answer read or why there is none, and how it came about."""

    read: T | Broken
    raw_output: str | None
    decoding: Decoding
    attempts: tuple[Attempt, ...]

    @property
    def latency_ms(self) -> int:
        """The time that all attempts took together."""
        return sum(attempt.latency_ms for attempt in self.attempts)


def ask(
    backend: Backend,
    settings: DecodingSettings,
    *,
    build_call: Callable[[int], Call],
    read: Callable[[Reply], T | Broken],
    clock: Clock | None = None,
) -> Asked[T]:
    """Call until an answer can be read, one is final, or the retries are used up."""
    clock = SystemClock() if clock is None else clock
    attempts: list[Attempt] = []
    raw: str | None = None
    while True:
        number = len(attempts) + 1
        started = clock.steady_ns()
        wait_ms = 0
        found: T | Broken
        tokens: int | None = None
        latency: int | None
        try:
            reply = backend.answer(build_call(number))
        except BackendError as error:
            late = isinstance(error, BackendTimeoutError)
            kind = FailureKind.TIMEOUT if late else FailureKind.BACKEND_ERROR
            found = Broken(kind, error.detail, final=late or not error.again)
            wait_ms, latency = error.wait_ms, error.latency_ms
            detail = found.detail
        else:
            raw = cut(reply.text)
            found = read(reply)
            tokens, latency = reply.tokens_out, reply.latency_ms
            detail = _describe(reply, found)
        if latency is None:
            latency = (clock.steady_ns() - started) // 1_000_000
        outcome = found.kind.value if isinstance(found, Broken) else ANSWERED
        attempts.append(Attempt(outcome, _encodable(detail), latency, tokens))
        if not isinstance(found, Broken) or found.final or number > settings.retries_max:
            return Asked(found, raw, _describe_decoding(backend, settings), tuple(attempts))
        clock.wait(wait_ms)


def cut(text: str | None) -> str | None:
    """Return a raw output as it can be kept: encodable, and at most ``RAW_BYTES_MAX`` bytes."""
    if text is None:
        return None
    return text.encode("utf-8", "replace")[:RAW_BYTES_MAX].decode("utf-8", "ignore")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _describe(reply: Reply, found: object) -> str:
    """Return what an attempt keeps: the fault and how the text began, and the request's size."""
    parts = [] if reply.tokens_in is None else [f"request of {reply.tokens_in} tokens"]
    if isinstance(found, Broken):
        parts.append(found.detail)
        text = reply.text or ""
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        parts.append(f"said {text[:SAID_CHARACTERS_MAX]!r} ({digest[:16]})")
    undeclared = getattr(found, "undeclared", ())
    if undeclared:
        parts.append(f"undeclared: {', '.join(undeclared)[:SAID_CHARACTERS_MAX]}")
    return "; ".join(parts)


def _describe_decoding(backend: Backend, settings: DecodingSettings) -> Decoding:
    return Decoding(
        backend=backend.kind,
        model=backend.model,
        server_version=backend.server_version,
        temperature=settings.temperature,
        tokens_max=settings.tokens_max,
        timeout_ms=settings.timeout_ms,
        seed=settings.seed,
    )
