"""Conflicts, their cores and the relaxations that resolve them."""

from decimal import Decimal

import pytest

from processors.predicates.conflict import Conflict, Constraint, find_conflict
from processors.predicates.relaxation import Offer, find_relaxations
from schemas.catalogue import SlotType
from schemas.outcome import RelaxationKind
from schemas.value import Money, build_record, build_set


def find_core(*texts, **known):
    """Return the core of these texts, confirmed in this order, as places from 1."""
    constraints = [Constraint(str(place), text) for place, text in enumerate(texts, 1)]
    found = find_conflict(constraints, **known)
    return None if found is None else tuple(map(int, found.core))


@pytest.mark.parametrize(
    ("texts", "core"),
    [
        (("slots.n > 1", "slots.n < 2"), None),
        (("slots.n > 2", "slots.n < 2"), (1, 2)),
        (("slots.n >= 2", "slots.n <= 2", "slots.n != 2"), (1, 2, 3)),
        (("slots.n >= 2.5", "slots.n < 2.50"), (1, 2)),
        (("slots.n == 1", 'slots.n == "1"'), (1, 2)),
        (("slots.n == 1", "slots.n == true"), (1, 2)),
        (("slots.n == 1", "slots.n contains 1"), (1, 2)),
        (("slots.n == 1", "is_null(slots.n)"), (1, 2)),
        (("exists(slots.n)", "not exists(slots.n)"), (1, 2)),
        (("slots.a < slots.b", "slots.b < slots.a"), (1, 2)),
        (("slots.a == slots.b", 'slots.a == "x"', 'slots.b == "y"'), (1, 2, 3)),
        (("slots.a == slots.b", "slots.a <= 1", "slots.b >= 2"), (1, 2, 3)),
        (("slots.a - slots.b >= 3", "slots.a <= 2", "slots.b >= 0"), (1, 2, 3)),
        (('slots.p <= money("3 EUR")', 'slots.p >= money("4 EUR")'), (1, 2)),
        (('slots.p <= money("3 EUR")', 'slots.p >= money("4 USD")'), None),
        (('slots.d <= date("2026-01-01")', 'slots.d > date("2026-01-01")'), (1, 2)),
        (('slots.d <= date("2026-01-01")', "slots.d > timestamp(1893456000000)"), None),
        (('slots.t < time("00:00")',), (1,)),
        (("count(slots.l) < 0",), (1,)),
        (('slots.s in ["A", "b"]', 'slots.s not_in ["a"]', 'slots.s != "B"'), (1, 2, 3)),
        (('slots.s in ["A", "b"]', 'slots.s not_in exact ["a", "b"]'), None),
        (('slots.s == folded "a"', 'slots.s != exact "a"', 'slots.s != exact "A"'), None),
        (('slots.s == "olive oil"', 'slots.s != word "oil"'), (1, 2)),
        (('slots.s == "pe\u0430nut"', 'slots.s != "walnut"'), (1, 2)),
        (('slots.l contains "Peanut"', 'slots.l excludes "peanut"'), (1, 2)),
        (('slots.l contains word "peanut oil"', 'slots.l excludes word "oil"'), (1, 2)),
        (('slots.l contains "c"', 'slots.l subset_of ["a", "b"]'), (1, 2)),
        (("slots.l contains 5", 'slots.l excludes "peanut"'), (1, 2)),
        (('slots.l == set("a")', 'slots.l contains "b"'), (1, 2)),
        (('slots.l == set("a")', 'slots.l excludes "a"'), (1, 2)),
        (("not (slots.a == 1) or slots.b == 2", "slots.a == 1", "slots.b == 3"), (1, 2, 3)),
        (("slots.a == 1 or slots.a == 2", "slots.a > 2"), (1, 2)),
        (("slots.a in []",), (1,)),
        (('attested("x")', 'not attested("x")'), (1, 2)),
        (("2 < 1",), (1,)),
        (("slots.a <= 1", "slots.b >= 2", "slots.a >= slots.b", "slots.a == 9"), (1, 2, 3)),
        (("slots.a == 9", "slots.a <= 1", "slots.a <= 2"), (1, 2)),
        (("all d in slots.a: d == 1", "all d in slots.a: d == 2"), None),
        (("slots.a - slots.b + slots.c == 1", "slots.a == slots.b", "slots.c == 2"), None),
        (("sum(slots.i[*].p) <= 3", "sum(slots.i[*].p) >= 4"), (1, 2)),
    ],
)  # fmt: skip
def test_a_core_is_what_cannot_be_satisfied_together(texts, core):
    """Bounds, equalities, differences and finite sets conflict by type and value, else not."""
    assert core == find_core(*texts)


def test_declared_types_make_whole_numbers_of_slots():
    """Between two neighbouring whole numbers lies none, and an instant is no date."""
    types = {"slots.n": SlotType.INT, "slots.at": SlotType.TIMESTAMP}

    assert (1, 2) == find_core("slots.n > 1", "slots.n < 2", types=types)
    bounds = ("slots.at <= timestamp(5)", "slots.at >= timestamp(6)")
    assert (1, 2) == find_core(*bounds, types=types)
    assert find_core(*bounds) is None


def test_equality_by_the_day_is_no_chain():
    """Two instants of one date may differ; slots declared as strings may not."""
    texts = ("slots.a == slots.b", "slots.b == slots.c", "slots.a != slots.c")
    types = {"slots.b": SlotType.STRING}

    assert find_core(*texts) is None
    assert (1, 2, 3) == find_core(*texts, types=types)
    assert (1, 2) == find_core("slots.a == slots.b", "slots.b != slots.a")


def test_known_values_take_part_but_are_no_members():
    """What the state says can complete a conflict; it is never named as a promise."""
    texts = ("slots.city == state.home_city", 'slots.city == "Bonn"')

    assert find_core(*texts) is None
    assert find_core(*texts, facts={"state.home_city": "Bonn"}) is None
    assert (1, 2) == find_core(*texts, facts={"state.home_city": "Köln"})
    assert (1,) == find_core("slots.p <= 3", facts={"slots.p": 4})
    assert (1,) == find_core("slots.b == true", facts={"slots.b": False})
    assert (1,) == find_core("slots.x == 1", facts={"slots.x": None})
    assert (1,) == find_core('slots.l contains "b"', facts={"slots.l": build_set("a")})
    assert find_core("slots.r.a == 1", facts={"slots.r": build_record(a=1)}) is None


def test_the_oldest_promises_that_conflict_are_named():
    """Deletion goes from the newest on, so a later repetition is never the one named."""
    texts = ("slots.n <= 3", "slots.n >= 5", "slots.n <= 2", "slots.n >= 9")

    assert (1, 2) == find_core(*texts)


def test_an_exception_belongs_to_its_constraint():
    """A rule conflicts only where its exception is ruled out as well."""
    rule = Constraint("P1", 'slots.channel != "phone"', 'slots.role == "carer"')
    phone = Constraint("P2", 'slots.channel == "phone"')
    neighbour = Constraint("P3", 'slots.role == "neighbour"')

    assert find_conflict([rule, phone]) is None
    assert Conflict(("P1", "P2", "P3")) == find_conflict([rule, phone, neighbour])


def test_an_unreadable_text_is_outside_the_fragment():
    """What cannot be read is no conflict here; its verdict is invalid everywhere."""
    assert find_core("slots.n <", "slots.n == 1") is None


def test_a_search_past_its_bound_is_no_conflict():
    """A puzzle that would take too long is left undecided, and undecided is no conflict."""
    holes = [f'"h{n}"' for n in range(9)]
    places = [f"slots.p{n} in [{', '.join(holes)}]" for n in range(10)]
    apart = [f"slots.p{a} != slots.p{b}" for a in range(10) for b in range(a)]

    assert find_core(*places, *apart) is None


CONTRACT = (
    Constraint("P1", "slots.nights <= 3"),
    Constraint("P2", "slots.nights >= 5"),
    Constraint("P3", 'slots.price <= money("300 EUR")'),
)


def test_every_relaxation_resolves():
    """Dropping, reverting and adopting are offered where they resolve, in this order."""
    found = find_relaxations(
        ("P1", "P2"),
        CONTRACT,
        predecessors={"P2": Constraint("P0", "slots.nights >= 2")},
        offers=(
            Offer("slots.nights", 4),
            Offer("slots.nights", 5),
            Offer("slots.nights", 3),
            Offer("slots.price", Money(Decimal(900), "EUR")),
        ),
    )

    assert [
        (RelaxationKind.DROP, "P1", None),
        (RelaxationKind.DROP, "P2", None),
        (RelaxationKind.REVERT, "P2", "slots.nights >= 2"),
        (RelaxationKind.ADOPT, "P1", "slots.nights == 5"),
        (RelaxationKind.ADOPT, "P2", "slots.nights == 3"),
    ] == [(r.kind, r.predicate_id, r.expression) for r in found]
    assert all(relaxation.resolves_all for relaxation in found)


def test_a_predecessor_that_conflicts_as_well_is_not_offered():
    """Reverting to what conflicts too resolves nothing."""
    found = find_relaxations(
        ("P1", "P2"), CONTRACT, predecessors={"P2": Constraint("P0", "slots.nights >= 4")}
    )

    assert [RelaxationKind.DROP] * 2 == [relaxation.kind for relaxation in found]


def test_a_second_conflict_is_said_to_remain():
    """Where two cores exist no single change resolves all, and each relaxation says so."""
    price = Constraint("P4", 'slots.price >= money("400 EUR")')
    found = find_relaxations(("P1", "P2"), (*CONTRACT, price), predecessors={})

    assert [("P1", False), ("P2", False)] == [(r.predicate_id, r.resolves_all) for r in found]
