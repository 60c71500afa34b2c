"""Whether formulas can be true together: propagation, then a bounded search (spec 2.7).

Formulas that share no variable are decided apart. Inside a group, alternatives that
contradict what is already required fall away; what is left is tried in order. The search is
bounded by a count, never by a clock, so that every replay decides alike; past the bound the
answer is ``UNDECIDED``, which is no conflict.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from processors.limits import CONFLICT_WORK_MAX
from processors.predicates.atoms import (
    TIME,
    Atom,
    Difference,
    Every,
    Formula,
    OneOf,
    Pair,
    Some,
    Text,
    name_variables,
)
from processors.predicates.theory import Solution, solve
from processors.predicates.unions import climb, join
from schemas.catalogue import SlotType

_DOMAIN_MAX: Final = 16  # Longer choices are not split for comparisons between slots.

Clause: TypeAlias = tuple[Formula, ...]


class Undecided(Enum):
    """The answer past the bound of the search."""

    UNDECIDED = "undecided"


UNDECIDED: Final = Undecided.UNDECIDED


class _ExhaustedError(Exception):
    """The bound of the search was reached."""


@dataclass(slots=True)
class _Effort:
    """How much work is left, and the declared types."""

    types: Mapping[str, SlotType]
    left: int = CONFLICT_WORK_MAX


def find_solutions(
    formulas: Sequence[Formula], types: Mapping[str, SlotType]
) -> tuple[Solution, ...] | Undecided | None:
    """Return a solution for each group of formulas that share variables; None on contradiction."""
    solutions: list[Solution] = []
    undecided = False
    for group in group_formulas(formulas):
        solution = _solve_group(group, types)
        if solution is None:
            return None
        if isinstance(solution, Undecided):
            undecided = True
        else:
            solutions.append(solution)
    return UNDECIDED if undecided else tuple(solutions)


def contradict(formulas: Sequence[Formula], types: Mapping[str, SlotType]) -> bool:
    """Return whether the formulas are known to exclude each other."""
    return any(
        _solve_group(group, types) is None
        for group in group_formulas(formulas)
        if len(group) > 1 or not _is_single(group[0])
    )


def _is_single(formula: Formula) -> bool:
    """Return whether this is one condition on a slot, which some value always meets."""
    if formula is None or isinstance(formula, Every | Some):
        return False
    names = name_variables(formula)
    if names and isinstance(formula, Difference):
        # No time lies before the first of the day, and no list has fewer items than none.
        return formula.scale != TIME and not names[0].startswith("count(")
    return names != ()


def _solve_group(
    group: Sequence[Formula], types: Mapping[str, SlotType]
) -> Solution | Undecided | None:
    atoms, clauses = _expand(group)
    try:
        return _search(*_split_choices(atoms, clauses), _Effort(types))
    except _ExhaustedError:
        return UNDECIDED


def group_formulas(formulas: Sequence[Formula]) -> tuple[tuple[Formula, ...], ...]:
    """Return the formulas in groups that share no variable, each in the order given."""
    parents: dict[str, str] = {}
    firsts: list[str | None] = []
    for formula in formulas:
        names = dict.fromkeys(n for atom in walk_atoms(formula) for n in name_variables(atom))
        first = next(iter(names), None)
        firsts.append(first)
        for name in names:
            if first is not None and name != first:
                join(parents, first, name)
    groups: dict[str, list[Formula]] = {}
    for formula, first in zip(formulas, firsts, strict=True):
        if formula is not None:
            groups.setdefault("" if first is None else climb(parents, first), []).append(formula)
    return tuple(tuple(group) for group in groups.values())


def walk_atoms(formula: Formula) -> Iterator[Atom]:
    """Yield every atom of a formula, in order."""
    if isinstance(formula, Every | Some):
        for item in formula.items:
            yield from walk_atoms(item)
    elif formula is not None:
        yield formula


def _expand(formulas: Sequence[Formula]) -> tuple[tuple[Atom, ...], tuple[Clause, ...]]:
    """Return the atoms that all formulas require, and the choices that are left."""
    atoms: list[Atom] = []
    clauses: list[Clause] = []
    waiting = list(reversed(formulas))
    while waiting:
        formula = waiting.pop()
        if isinstance(formula, Every):
            waiting.extend(reversed(formula.items))
        elif isinstance(formula, Some):
            if all(item is not None for item in formula.items):
                clauses.append(formula.items)
        elif formula is not None:
            atoms.append(formula)
    return tuple(atoms), tuple(clauses)


def _split_choices(
    atoms: tuple[Atom, ...], clauses: tuple[Clause, ...]
) -> tuple[tuple[Atom, ...], tuple[Clause, ...]]:
    """Turn choices of strings into clauses where two slots are compared with each other."""
    paired = {name for atom in atoms if isinstance(atom, Pair) for name in (atom.left, atom.right)}
    kept: list[Atom] = []
    split: list[Clause] = []
    for atom in atoms:
        if isinstance(atom, OneOf) and atom.name in paired and len(atom.literals) <= _DOMAIN_MAX:
            split.append(
                tuple(Text(atom.name, atom.match, literal, True) for literal in atom.literals)
            )
        else:
            kept.append(atom)
    return tuple(kept), (*clauses, *split)


def _search(
    atoms: tuple[Atom, ...], clauses: tuple[Clause, ...], effort: _Effort
) -> Solution | None:
    whole = _check(atoms, effort)
    if whole is None or not clauses:
        return whole
    for choose in (_choose_blindly, _choose_fitting):
        quick = choose(atoms, clauses, effort)
        if quick is not None:
            return quick
    propagated = _propagate(atoms, clauses, effort)
    if propagated is None:
        return None
    atoms, clauses = propagated
    if not clauses:
        return _check(atoms, effort)
    at = min(range(len(clauses)), key=lambda n: (len(clauses[n]), n))
    rest = (*clauses[:at], *clauses[at + 1 :])
    for alternative in clauses[at]:
        more, nested = _expand((alternative,))
        solution = _search((*atoms, *more), (*rest, *nested), effort)
        if solution is not None:
            return solution
    return None


def _choose_blindly(
    atoms: tuple[Atom, ...], clauses: tuple[Clause, ...], effort: _Effort
) -> Solution | None:
    """Return the solution in which every first choice is taken, if there is one."""
    chosen = list(atoms)
    waiting = list(reversed(clauses))
    while waiting:
        clause = waiting.pop()
        if not clause:
            return None
        more, nested = _expand(clause[:1])
        chosen.extend(more)
        waiting.extend(reversed(nested))
    return _check(tuple(chosen), effort)


def _choose_fitting(
    atoms: tuple[Atom, ...], clauses: tuple[Clause, ...], effort: _Effort
) -> Solution | None:
    """Return the solution found by taking in each clause the first choice that fits, if any."""
    chosen = list(atoms)
    waiting = list(reversed(clauses))
    while waiting:
        for alternative in waiting.pop():
            more, nested = _expand((alternative,))
            if _fits(chosen, more, effort):
                chosen.extend(more)
                waiting.extend(reversed(nested))
                break
        else:
            return None
    return _check(tuple(chosen), effort)


def _propagate(
    atoms: tuple[Atom, ...], clauses: tuple[Clause, ...], effort: _Effort
) -> tuple[tuple[Atom, ...], tuple[Clause, ...]] | None:
    """Drop choices that contradict what is required; a last choice becomes required."""
    pending = list(clauses)
    changed = True
    while changed:
        changed = False
        kept: list[Clause] = []
        for clause in pending:
            alive = [item for item in clause if _fits(atoms, _expand((item,))[0], effort)]
            if not alive:
                return None
            if len(alive) > 1:
                kept.append(tuple(alive))
                continue
            more, nested = _expand(alive)
            atoms = (*atoms, *more)
            kept.extend(nested)
            changed = True
        pending = kept
    return atoms, tuple(pending)


def _fits(atoms: Sequence[Atom], more: Sequence[Atom], effort: _Effort) -> bool:
    """Return whether more atoms are consistent with those that touch the same variables."""
    near = dict.fromkeys(name for atom in more for name in name_variables(atom))
    size = 0
    while size != len(near):
        size = len(near)
        for atom in atoms:
            names = name_variables(atom)
            if len(names) == 2 and (names[0] in near) != (names[1] in near):
                near[names[0]] = near[names[1]] = None
    local = [atom for atom in atoms if any(name in near for name in name_variables(atom))]
    return _check((*local, *more), effort) is not None


def _check(atoms: tuple[Atom, ...], effort: _Effort) -> Solution | None:
    effort.left -= len(atoms) + 1
    if effort.left < 0:
        raise _ExhaustedError
    return solve(atoms, effort.types)
