"""What is read from an utterance before it is an event: hints of slots and tastes, and rules."""

from dataclasses import dataclass
from typing import TypeAlias

from infra.extraction.stances import Stance
from processors.predicates.expression import (
    SLOTS,
    Comparison,
    Literal,
    Operator,
    Path,
    default_match,
)
from processors.predicates.rendering import render
from schemas.agreement import PredicateProposed
from schemas.observation import HintExtracted, HintKind
from schemas.predicate import Predicate, PredicateScope
from schemas.value import Value
from schemas.value_json import render_json


@dataclass(frozen=True, slots=True)
class Hint:
    """A slot's value or a taste, read at [start, end) of an utterance."""

    kind: HintKind
    subject: str
    slot: str
    value: Value
    confidence: int
    start: int
    end: int

    def build_payload(self, source_id: str) -> HintExtracted:
        """Return the payload; the utterance is its only source."""
        return HintExtracted(
            self.kind, self.subject, self.slot, self.value, None, self.confidence, (source_id,)
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its exception, read at [start, end) of an utterance; never in force by itself."""

    predicate: Predicate
    kind: HintKind
    start: int
    end: int

    def build_payload(self, _source_id: str) -> PredicateProposed:
        """Return the payload; it replaces nothing."""
        return PredicateProposed(self.predicate, (), self.kind)


Proposal: TypeAlias = Hint | Rule


def build_predicate(
    *, subject: str, slot: str, operator: Operator, value: Value, unless: str | None,
    zone: str | None,
) -> Predicate:  # fmt: skip
    """Return the predicate ``slots.<slot> <operator> <value>`` of one subject, for all scenes.

    Its id names subject, slot and operator: a later bound takes the place of an earlier one,
    while every excluded value is a rule of its own.
    """
    name = f"said:{subject}.{slot}.{operator.name.lower()}"
    if operator in {Operator.NE, Operator.EXCLUDES}:
        name += f".{value if isinstance(value, str) else render_json(value)}"
    return Predicate(
        predicate_id=name,
        expression=render_comparison(slot, operator, value),
        unless=unless,
        scenes=(),
        subject=subject,
        scope=PredicateScope.STANDING,
        valid_from_ms=None,
        valid_to_ms=None,
        dimensions=(),
        zone=zone,
    )


def render_comparison(slot: str, operator: Operator, value: Value) -> str:
    """Return the canonical text of one comparison of a slot with a literal."""
    path = Path(SLOTS, (slot,))
    return render(Comparison(operator, path, Literal(value), default_match(operator)))


OPERATORS: dict[Stance, Operator] = {
    Stance.IS: Operator.EQ,
    Stance.IS_NOT: Operator.NE,
    Stance.AT_MOST: Operator.LE,
    Stance.AT_LEAST: Operator.GE,
    Stance.BELOW: Operator.LT,
    Stance.ABOVE: Operator.GT,
}
"""The operator that says what a stance means."""
