"""Conflict against an independent solver, z3, over random contracts of the fragment.

The encoding here is written from the tables of spec 2.4, apart from the translation under
test: an atom holds when its slots are present and the relation is true, fails when they are
present and it is false. Strings are enumerated with spare values and, for each letter, with
variants that fold to it, since there are always more of both.
"""

import random
from decimal import Decimal

import pytest
import z3

from processors.predicates.conflict import Constraint, find_conflict
from schemas.catalogue import SlotType

CASES = 1_200
INTS, REALS, TEXTS, SETS = ("i", "j", "k"), ("p", "q"), ("s", "t", "u"), ("x", "y")
LETTERS = ("a", "b", "c", "d")
TYPES = {
    **{f"slots.{name}": SlotType.INT for name in INTS},
    **{f"slots.{name}": SlotType.DECIMAL for name in REALS},
    **{f"slots.{name}": SlotType.STRING for name in TEXTS},
}
SIGNS = ("<", "<=", ">", ">=", "==", "!=")

CONTEXT = z3.Context()
VARIANTS = 4
NAMES = [f"{letter}{n}" for letter in LETTERS for n in range(VARIANTS)]
TEXT, VALUES = z3.EnumSort("Text", [*NAMES, *(f"other{n}" for n in range(4))], CONTEXT)
SPELLINGS = {
    letter: VALUES[at * VARIANTS : (at + 1) * VARIANTS] for at, letter in enumerate(LETTERS)
}
PRESENT = {name: z3.Bool(f"has_{name}", CONTEXT) for name in (*INTS, *REALS, *TEXTS, *SETS)}
NUMBER = {
    **{name: z3.Int(name, CONTEXT) for name in INTS},
    **{name: z3.Real(name, CONTEXT) for name in REALS},
}
STRING = {name: z3.Const(name, TEXT) for name in TEXTS}
MEMBER = {
    (name, letter): z3.Bools([f"{name}_{letter}", f"{name}_{letter}_variant"], CONTEXT)
    for name in SETS
    for letter in LETTERS
}


def compare(sign, left, right):
    """Return the relation of a sign."""
    return {
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
        "==": left == right,
        "!=": left != right,
    }[sign]


def conjoin(parts):
    """Return the conjunction, also of nothing."""
    return z3.And([z3.BoolVal(True, CONTEXT), *parts])


def disjoin(parts):
    """Return the disjunction, also of nothing."""
    return z3.Or([z3.BoolVal(False, CONTEXT), *parts])


def state(names, relation):
    """Return what makes an atom over these slots hold, and what makes it fail."""
    there = [PRESENT[name] for name in names]
    return conjoin([*there, relation]), conjoin([*there, z3.Not(relation)])


def draw_atom(draw):
    """Return the text of one condition, and what makes it hold and fail."""
    kind = draw.randrange(9)
    if kind == 0:
        name, sign, limit = draw.choice(INTS), draw.choice(SIGNS), draw.randrange(-3, 4)
        text = f"slots.{name} {sign} {limit}"
        return text, *state([name], compare(sign, NUMBER[name], z3.IntVal(limit, CONTEXT)))
    if kind == 1:
        name, sign = draw.choice(REALS), draw.choice(SIGNS)
        limit = Decimal(draw.randrange(-6, 7)) / 2
        text = f"slots.{name} {sign} {limit:.1f}"
        return text, *state([name], compare(sign, NUMBER[name], z3.RealVal(str(limit), CONTEXT)))
    if kind == 2:
        names = draw.sample(draw.choice((INTS, REALS)), 2)
        sign, limit = draw.choice(SIGNS[:5]), draw.randrange(-2, 3)
        text = f"slots.{names[0]} - slots.{names[1]} {sign} {limit}"
        difference = NUMBER[names[0]] - NUMBER[names[1]]
        return text, *state(names, compare(sign, difference, z3.IntVal(limit, CONTEXT)))
    if kind == 3:
        name, items = draw.choice(INTS), draw.sample(range(-3, 4), draw.randrange(4))
        sign = draw.choice(("in", "not_in"))
        inside = disjoin([NUMBER[name] == item for item in items])
        relation = inside if sign == "in" else z3.Not(inside)
        return f"slots.{name} {sign} {items}", *state([name], relation)
    if kind == 4:
        name, sign = draw.choice(TEXTS), draw.choice(("in", "not_in"))
        items = draw.sample(LETTERS, draw.randrange(1, 4))
        folded = sign == "not_in"
        inside = disjoin([spell(name, item, folded=folded) for item in items])
        relation = z3.Not(inside) if folded else inside
        return f"slots.{name} {sign} {quote(items)}", *state([name], relation)
    if kind == 5:
        name, letter, sign = draw.choice(TEXTS), draw.choice(LETTERS), draw.choice(("==", "!="))
        equal = spell(name, letter, folded=sign == "!=")
        relation = equal if sign == "==" else z3.Not(equal)
        return f'slots.{name} {sign} "{letter}"', *state([name], relation)
    if kind == 6:
        names, sign = draw.sample(TEXTS, 2), draw.choice(("==", "!="))
        equal = STRING[names[0]] == STRING[names[1]]
        relation = equal if sign == "==" else z3.Not(equal)
        return f"slots.{names[0]} {sign} exact slots.{names[1]}", *state(names, relation)
    return draw_set_atom(draw)


def spell(name, letter, *, folded):
    """Return that a string is this letter, or with ``folded`` one of its spellings."""
    exact = STRING[name] == SPELLINGS[letter][0]
    if not folded:
        return exact
    return disjoin([STRING[name] == value for value in SPELLINGS[letter]])


def quote(items):
    """Return a list literal of strings."""
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"


def draw_set_atom(draw):
    """Return a condition on a collection or on presence."""
    name = draw.choice(SETS)
    kind = draw.randrange(4)
    letter = draw.choice(LETTERS)
    if kind == 0:
        return f'slots.{name} contains "{letter}"', *state([name], MEMBER[name, letter][0])
    if kind == 1:
        relation = z3.Not(disjoin(MEMBER[name, letter]))
        return f'slots.{name} excludes "{letter}"', *state([name], relation)
    if kind == 2:
        items = draw.sample(LETTERS, draw.randrange(1, 3))
        relation = conjoin([z3.Not(disjoin(MEMBER[name, item])) for item in items])
        return f"slots.{name} disjoint_from {quote(items)}", *state([name], relation)
    slot = draw.choice((*INTS, *TEXTS))
    return f"exists(slots.{slot})", PRESENT[slot], z3.Not(PRESENT[slot])


def draw_predicate(draw):
    """Return the text of a predicate and what makes it hold."""
    kind = draw.randrange(8)
    one, holds, fails = draw_atom(draw)
    if kind < 4:
        return one, holds
    if kind == 4:
        return f"not ({one})", fails
    other, other_holds, _ = draw_atom(draw)
    if kind == 5:
        return f"not ({one}) or {other}", disjoin([fails, other_holds])
    if kind == 6:
        return f"({one}) unless ({other})", disjoin([holds, other_holds])
    third, third_holds, _ = draw_atom(draw)
    text = f"(({one}) and ({other})) or ({third})"
    return text, disjoin([conjoin([holds, other_holds]), third_holds])


def is_satisfiable(solver, formulas):
    """Return the answer of z3."""
    solver.push()
    solver.add(*formulas)
    found = solver.check() == z3.sat
    solver.pop()
    return found


def delete_newest_first(solver, formulas):
    """Return the places of the core that plain deletion leaves."""
    kept = list(range(len(formulas)))
    for at in reversed(range(len(formulas))):
        rest = [n for n in kept if n != at]
        if not is_satisfiable(solver, [formulas[n] for n in rest]):
            kept = rest
    return tuple(kept)


@pytest.mark.parametrize("part", range(4))
def test_conflict_and_core_are_those_of_z3(part):
    """A conflict is found just when z3 finds one, and its core is what plain deletion leaves."""
    draw = random.Random(part)
    solver = z3.SolverFor("ALL", ctx=CONTEXT)
    conflicts = 0
    for case in range(CASES // 4):
        predicates = [draw_predicate(draw) for _ in range(draw.randrange(2, 10))]
        formulas = [formula for _, formula in predicates]
        constraints = [Constraint(f"P{n}", text) for n, (text, _) in enumerate(predicates)]

        found = find_conflict(constraints, types=TYPES)

        expected = None
        if not is_satisfiable(solver, formulas):
            conflicts += 1
            expected = tuple(f"P{n}" for n in delete_newest_first(solver, formulas))
        assert expected == (found.core if found else None), (case, [t for t, _ in predicates])
    assert conflicts > CASES // 40
