"""A model as generator: what a variant shows becomes the prompt of any backend.

Prompt, schema, retries and strict reading are those of ``infra.generation``, the same for every
variant; only the units, rules and needs inside differ. Answers are taken as they are.
"""

from typing import Final

from infra.backends.port import Backend
from infra.evaluation.answering import (
    ATTEMPTS_MAX,
    CANDIDATES,
    TEMPERATURE,
    TIMEOUT_MS,
    Answer,
)
from infra.evaluation.chronicle import BEGIN_MS, TENANT
from infra.evaluation.domains import build_catalogue
from infra.evaluation.shown import Line, Shown
from infra.generation.answer import Broken
from infra.generation.asking import DecodingSettings
from infra.generation.generator import ask_candidates
from schemas.catalogue import Authority
from schemas.control import Weights
from schemas.identity import predicate_digest
from schemas.packet import (
    BudgetPart,
    Coverage,
    Packet,
    PacketUnit,
    PredicateView,
    Requirement,
    RequirementKind,
    Uncovered,
)
from schemas.turn import TurnMode

_NO_WEIGHTS: Final = Weights(0, 0, 0, 0, 0)


class Prompted:
    """The generator over one backend."""

    def __init__(
        self, backend: Backend, *, seed: int = 1, candidates_max: int = CANDIDATES
    ) -> None:
        """Ask for ``candidates_max`` at most; small models manage fewer."""
        self._backend = backend
        self._seed = seed
        self._candidates_max = candidates_max
        self._catalogue = build_catalogue()

    @property
    def name(self) -> str:
        """Backend and model."""
        return f"{self._backend.kind} {self._backend.model}"

    @property
    def simulated(self) -> bool:
        """Whether the backend draws its answers."""
        return self._backend.kind == "simulated"

    def answer(self, shown: Shown, *, tokens_max: int) -> Answer:
        """Return what the model says, or how it failed after its retries."""
        settings = DecodingSettings(
            temperature=TEMPERATURE,
            tokens_max=tokens_max,
            retries_max=ATTEMPTS_MAX - 1,
            timeout_ms=TIMEOUT_MS,
            seed=self._seed,
            candidates_max=self._candidates_max,
        )
        asked = ask_candidates(build_packet(shown), self._catalogue, self._backend, settings)
        read = asked.read
        if isinstance(read, Broken):
            return Answer((), read.kind, asked.attempts, asked.decoding)
        return Answer(read.candidates, None, asked.attempts, asked.decoding)

    def close(self) -> None:
        """Release the backend."""
        self._backend.close()


def build_packet(shown: Shown) -> Packet:
    """Return what is shown in the form that prompts are made from; it stands on no log."""
    rules = tuple(
        PredicateView(rule, predicate_digest(rule), 0, 0, "user") for rule in shown.contract
    )
    # Prompts spell out what is not covered; here all of it is named, since all must be cited.
    coverage = tuple(
        Coverage(
            Requirement(RequirementKind.DIMENSION, name, 1, ()), Uncovered.CROWDED_OUT, (), None
        )
        for name in shown.required
    )
    return Packet(
        tenant=TENANT,
        user=shown.fixture_id,
        turn_id=shown.fixture_id,
        seq=0,
        round=1,
        scene=shown.scene,
        commitment_types=(shown.scene,),
        mode=TurnMode.TURN,
        text=shown.request,
        asks=shown.asks,
        participants=(),
        as_of_ms=BEGIN_MS,
        ruleset=1,
        catalogue_digest=b"",
        selector="",
        weights=_NO_WEIGHTS,
        budget_main=0,
        budget_tail=0,
        cost_main=0,
        cost_tail=0,
        units=tuple(_show_line(line, typed=shown.typed) for line in shown.lines),
        terms=(),
        coverage=coverage,
        contract=rules,
        contract_version=0,
        contract_digest=b"",
        objective=0,
        bound=0,
        gap=0,
        left_out=(),
        terms_digest=b"",
    )


def _show_line(line: Line, *, typed: bool) -> PacketUnit:
    """Return a line as a unit; only typed interfaces show its dimensions and witnesses.

    The record of an offer is shown in all: no text says what the fields of such a record are, so
    without it no answer could carry one.
    """
    offer = line.offer
    return PacketUnit(
        unit_id=line.unit_id or line.key,
        content=line.text,
        reference=None,
        slot=None if offer is None else "offer",
        value=offer,
        dimensions=line.dimensions if typed else (),
        authority=Authority.OBSERVED,
        tail_witness=line.tail_witness and typed,
        part=BudgetPart.MAIN,
        event_id=line.event_id,
        event_digest=b"",
    )
