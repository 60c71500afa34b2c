"""The activation problem as integers: one row per evidence unit, bit masks over requirements.

Here live the shape and its checks. No rule of choice, no event, no text lives here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

MILLION: Final = 1_000_000
"""One, in millionths: the unit of every relevance, penalty and objective value."""

TERM_MAX: Final = 10**9
"""Greatest magnitude of a supplied rel or over: a thousand times the natural range."""

COST_MAX: Final = 2**40
"""Greatest cost and budget: far above any event; sums of them stay far below int64."""

WEIGHT_MAX: Final = 1_000
"""Greatest weight of a requirement (spec 3.3) and of a term of the objective."""

REQUIREMENTS_MAX: Final = 4_096
"""Greatest number of requirements, and of open obligations, in one problem."""

UNITS_MAX: Final = 100_000
"""Greatest number of units in one problem: five times the limit per user (spec 6.2)."""

Mode = Literal["turn", "cover", "result"]


class ProblemError(ValueError):
    """A problem outside the law; the message names field, unit and remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The five fixed priors of the objective J (spec 4), whole numbers from 0 to 1000."""

    relevance: int = 1
    coverage: int = 2
    tail: int = 2
    debt: int = 1
    over: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or not 0 <= value <= WEIGHT_MAX:
                raise ProblemError(
                    f"weight {field.name} is {value!r}: give a whole number from 0 to {WEIGHT_MAX}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One activation problem (spec 4); unit i is row i of every per-unit field.

    `covers` holds one mask per unit, bit r set when the unit meets requirement r; `debt` one
    mask per unit over the open obligations. `rel` and `over` are millionths, `cost` and the
    budgets cost units. `tokens` (folded tokens per unit) is read by the selector `mmr` only.

    Raises:
        ProblemError: lengths differ, an id repeats, or a number is outside its range.
    """

    unit_ids: tuple[str, ...]
    rel: tuple[int, ...]
    over: tuple[int, ...]
    cost: tuple[int, ...]
    tail_witness: tuple[bool, ...]
    covers: tuple[int, ...]
    debt: tuple[int, ...]
    requirement_weights: tuple[int, ...]
    obligations: int = 0
    budget_main: int
    budget_tail: int
    weights: Weights = Weights()
    tokens: tuple[frozenset[str], ...] = ()

    def __post_init__(self) -> None:
        _check_lengths(self)
        _check_requirements(self)
        _check_column(self, "rel", least=-TERM_MAX, most=TERM_MAX)
        _check_column(self, "over", least=-TERM_MAX, most=TERM_MAX)
        _check_column(self, "cost", least=0, most=COST_MAX)
        _check_column(self, "covers", least=0, most=(1 << len(self.requirement_weights)) - 1)
        _check_column(self, "debt", least=0, most=(1 << self.obligations) - 1)
        for name in ("budget_main", "budget_tail"):
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= COST_MAX:
                raise ProblemError(
                    f"{name} is {value!r}: give a whole number from 0 to {COST_MAX} "
                    "(0 is legal and activates only units of cost 0)"
                )


def _check_lengths(problem: Problem) -> None:
    count = len(problem.unit_ids)
    if count > UNITS_MAX:
        raise ProblemError(f"{count} units: at most {UNITS_MAX} in one problem")
    for name in ("rel", "over", "cost", "tail_witness", "covers", "debt"):
        length = len(getattr(problem, name))
        if length != count:
            raise ProblemError(f"{name} has {length} rows for {count} unit ids: give one per unit")
    if problem.tokens and len(problem.tokens) != count:
        raise ProblemError(f"tokens has {len(problem.tokens)} rows: give {count}, or none at all")
    if len(set(problem.unit_ids)) != count:
        seen: set[str] = set()
        for row, unit_id in enumerate(problem.unit_ids):
            if unit_id in seen:
                raise ProblemError(f"unit id {unit_id!r} repeats in row {row}: ids are unique")
            seen.add(unit_id)
    if not set(map(type, problem.tail_witness)) <= {bool}:
        raise ProblemError("tail_witness holds something that is neither true nor false")


def _check_column(problem: Problem, name: str, *, least: int, most: int) -> None:
    column: tuple[int, ...] = getattr(problem, name)
    if not column:
        return
    if set(map(type, column)) == {int} and min(column) >= least and max(column) <= most:
        return
    for unit_id, value in zip(problem.unit_ids, column, strict=True):
        if type(value) is not int:
            raise ProblemError(f"{name} of unit {unit_id!r} is {value!r}: give a whole number")
        if value < least:
            raise ProblemError(f"{name} of unit {unit_id!r} is {value}: at least {least} is legal")
        if value > most:
            raise ProblemError(_describe_excess(name, unit_id, most))


def _describe_excess(name: str, unit_id: str, most: int) -> str:
    if name in {"covers", "debt"}:
        bits = most.bit_length()
        return f"{name} of unit {unit_id!r} sets a bit beyond the {bits} declared: declare or drop"
    return f"{name} of unit {unit_id!r} is too great: at most {most} is legal"


def _check_requirements(problem: Problem) -> None:
    if len(problem.requirement_weights) > REQUIREMENTS_MAX:
        raise ProblemError(
            f"{len(problem.requirement_weights)} requirements: at most {REQUIREMENTS_MAX}"
        )
    if type(problem.obligations) is not int or not 0 <= problem.obligations <= REQUIREMENTS_MAX:
        raise ProblemError(
            f"obligations is {problem.obligations!r}: give a count from 0 to {REQUIREMENTS_MAX}"
        )
    for position, weight in enumerate(problem.requirement_weights):
        if type(weight) is not int or not 1 <= weight <= WEIGHT_MAX:
            raise ProblemError(
                f"weight of requirement {position} is {weight!r}: "
                f"give a whole number from 1 to {WEIGHT_MAX}"
            )
