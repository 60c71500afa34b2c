"""Structured candidates: what a generator or a caller's own agent proposes (spec 5.2)."""

from dataclasses import dataclass

from schemas.value import Value


@dataclass(frozen=True, slots=True)
class SlotValue:
    """One carried slot."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class PatchOperation:
    """Sets the value at a path of the amended commitment, such as ``days[1].meal``."""

    path: str
    value: Value


@dataclass(frozen=True, slots=True)
class Amendment:
    """The commitment and the version that a candidate amends."""

    commitment_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A structured commitment before validation; slots, or an amendment with its patch."""

    commitment_type: str
    slots: tuple[SlotValue, ...]
    amends: Amendment | None
    patch: tuple[PatchOperation, ...]
    evidence_ids: tuple[str, ...]
    claimed_predicates: tuple[str, ...]
    required_slots: tuple[str, ...]
    repair_status: str
    surface_text: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """How an answer was made; temperature in millionths, timeout in milliseconds."""

    backend: str
    model: str
    server_version: str
    temperature: int
    tokens_max: int
    timeout_ms: int
    seed: int | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a generator and what came of it."""

    outcome: str
    detail: str
    latency_ms: int
    tokens: int | None
