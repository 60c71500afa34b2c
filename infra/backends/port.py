"""The port of all backends: one call in, one reply or one named error out.

A backend neither reads the answer nor asks again; both are done in ``infra.generation``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; ``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a backend is asked: messages, the schema of the answer, and how to decode.

    ``subject`` is the digest of what is answered (a packet, or a commitment to phrase) and
    ``attempt`` counts from 1; together they name the call in a recording. ``schema`` None asks
    for plain text. ``temperature`` is in millionths.
    """

    subject: bytes
    attempt: int
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    temperature: int
    tokens_max: int
    timeout_ms: int
    seed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back, unread; ``latency_ms`` only where it was measured elsewhere."""

    text: str | None
    finish_reason: str | None
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_ms: int | None = None


class BackendError(Exception):
    """The backend gave no reply; ``again`` says whether asking once more can help."""

    def __init__(
        self, detail: str, *, again: bool, wait_ms: int = 0, latency_ms: int | None = None
    ) -> None:
        """Say what happened, and how long to wait before asking again."""
        super().__init__(detail)
        self.detail = detail
        self.again = again
        self.wait_ms = wait_ms
        self.latency_ms = latency_ms


class BackendTimeoutError(BackendError):
    """The call took longer than it was given; it is not made again within the turn."""


class Backend(Protocol):
    """Something that answers; ``kind``, ``model`` and ``server_version`` go into the record."""

    @property
    def kind(self) -> str:
        """Return what kind of backend this is, such as ``openai``."""
        ...

    @property
    def model(self) -> str:
        """Return the model's id, as its server calls it once it has answered."""
        ...

    @property
    def server_version(self) -> str:
        """Return what the server says of itself, or ""."""
        ...

    def answer(self, call: Call) -> Reply:
        """Answer within ``call.timeout_ms``.

        Raises:
            BackendError, BackendTimeoutError: there is no reply.

        """
        ...

    def close(self) -> None:
        """Release what the backend holds."""
        ...
