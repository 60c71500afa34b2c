"""Examples: a commitment of which given expressions hold and others fail.

Built from a solution of the conflict fragment and then checked by evaluation, so that every
example shown to people is one; where none is found there is simply none to show.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final

from processors.predicates.atoms import (
    DATE,
    DAYS,
    ELAPSED,
    LOCAL,
    MONEY,
    TIME,
    TIMESTAMP,
    Difference,
    Unequal,
    name_variables,
)
from processors.predicates.bounds import Weight, choose_value
from processors.predicates.evaluation import evaluate
from processors.predicates.expression import SLOTS, Exists, Expression, Path
from processors.predicates.fragment import translate
from processors.predicates.satisfiability import Undecided, find_solutions, walk_atoms
from processors.predicates.scope import Scope
from processors.predicates.text import PredicateTextError, parse
from processors.predicates.theory import Solution
from processors.predicates.verdict import FAILS, HOLDS
from schemas.catalogue import SlotType
from schemas.value import (
    Elapsed,
    Money,
    Period,
    RecordValue,
    Timestamp,
    Value,
    build_record,
)

_STEPS: Final = (Fraction(1), Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12))
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - local date-times have no zone
_PLAIN: Final = "some value"
_DIGITS: Final = 30


def find_example(
    *,
    holding: Sequence[Expression],
    failing: Sequence[Expression] = (),
    types: Mapping[str, SlotType],
) -> Mapping[str, Value] | None:
    """Return slots over which all of ``holding`` hold and all of ``failing`` fail, if found."""
    formulas = [translate(expression, positive=True) for expression in holding]
    formulas.extend(translate(expression, positive=False) for expression in failing)
    known = dict(types)
    for formula in formulas:
        for atom in walk_atoms(formula):
            # An example may take an instant for what is compared with instants.
            if isinstance(atom, Difference | Unequal) and atom.scale in _ASSUMED:
                for name in name_variables(atom):
                    known.setdefault(name, _ASSUMED[atom.scale])
    solutions = find_solutions(formulas, known)
    if solutions is None or isinstance(solutions, Undecided):
        return None
    for step in _STEPS:
        slots = _build_slots(solutions, step)
        if slots is None:
            return None
        scope = Scope(slots=slots)
        if all(evaluate(one, scope).verdict is HOLDS for one in holding) and all(
            evaluate(one, scope).verdict is FAILS for one in failing
        ):
            return slots
    return None


_ASSUMED: Final[Mapping[str | None, SlotType]] = {
    TIMESTAMP: SlotType.TIMESTAMP,
    LOCAL: SlotType.LOCAL,
}


def _build_slots(solutions: Sequence[Solution], step: Fraction) -> Mapping[str, Value] | None:
    slots: dict[str, Value] = {}
    for solution in solutions:
        values: dict[str, Value] = {}
        for name in (*solution.present, *solution.truths):
            values[name] = _PLAIN
        for name, (weight, scale) in solution.numbers.items():
            value = _build_number(weight, scale, step)
            if value is None:
                return None
            values[name] = value
        values.update(solution.strings)
        values.update(solution.truths)
        values.update(solution.lists)
        for name in sorted(values):
            for path in _read_path(name):
                _place(slots, path, values[name])
    return slots


def _read_path(name: str) -> Iterator[Path]:
    """Yield the slot path of a variable; counts, checks and other roots have none."""
    try:
        expression = parse(f"exists({name})")
    except PredicateTextError:
        return
    if isinstance(expression, Exists) and expression.path.root == SLOTS:
        yield expression.path


def _place(slots: dict[str, Value], path: Path, value: Value) -> None:
    names = [step for step in path.steps if isinstance(step, str)]
    if len(names) != len(path.steps):
        return  # A place in a list: the rest of the list would have to be invented.
    first, rest = names[0], names[1:]
    slots[first] = _nest(slots.get(first), rest, value)


def _nest(known: Value, names: Sequence[str], value: Value) -> Value:
    if not names:
        return value
    fields = dict(known.fields) if isinstance(known, RecordValue) else {}
    fields[names[0]] = _nest(fields.get(names[0]), names[1:], value)
    return build_record(**fields)


def _build_number(weight: Weight, scale: str | None, step: Fraction) -> Value:
    number = Fraction(choose_value(weight, step))
    try:
        return _build_scaled(number, scale)
    except (OverflowError, ValueError):
        return None


def _build_scaled(number: Fraction, scale: str | None) -> Value:
    if scale is not None and scale.startswith(MONEY):
        return Money(_to_decimal(number), scale.removeprefix(MONEY))
    whole = int(number)
    if scale == DATE:
        return date.fromordinal(whole)
    if scale == TIMESTAMP:
        return Timestamp(whole)
    if scale == ELAPSED:
        return Elapsed(whole)
    if scale == DAYS:
        return Period(0, whole)
    if scale == LOCAL:
        return _EPOCH + timedelta(milliseconds=whole)
    if scale == TIME:
        return (_EPOCH + timedelta(milliseconds=whole)).time()
    return whole if number.denominator == 1 else _to_decimal(number)


def _to_decimal(number: Fraction) -> Decimal:
    scaled = number * 10**_DIGITS
    return Decimal(round(scaled)).scaleb(-_DIGITS).normalize() + Decimal(0)
