"""Lint, static types, what a predicate reads, and when it applies."""

import pytest

from processors.predicates.applies import Occasion, applies
from processors.predicates.checking import check_types, declare_slots
from processors.predicates.lint import LintKind, lint
from processors.predicates.resolution import ResolutionError, resolve
from processors.predicates.text import parse
from processors.predicates.walk import Reads, collect_reads, is_relative, read_slots
from schemas.catalogue import (
    Authority,
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
)
from schemas.predicate import Predicate, PredicateScope


def declare(name, kind):
    """Return a plain declaration of a slot."""
    return SlotDeclaration(name, kind, min_authority=Authority.HINT)


SLOTS = (
    declare("price", SlotType.MONEY),
    declare("nights", SlotType.INT),
    declare("channel", SlotType.STRING),
    declare("role", SlotType.STRING),
    declare("ingredients", SlotType.LIST),
    declare("day", SlotType.DATE),
)
BOOKING = CommitmentType("booking", SLOTS, (), False, (), (), ("billing",))
CALL = CommitmentType("call", (declare("number", SlotType.STRING),), (), False, (), (), ())
CATALOGUE = Catalogue(
    "test",
    (
        Scene("travel", ("booking",), (), (), (), (), ""),
        Scene("phone", ("call",), (), (), (), (), ""),
    ),
    (BOOKING, CALL),
    (),
    (),
)


def confirm(
    name, text, *, unless=None, scenes=(), subject="", dimensions=(), interval=(None, None)
):
    """Return a standing predicate."""
    return Predicate(
        name, text, unless, scenes, subject, PredicateScope.STANDING, *interval, dimensions, None
    )


def find_doubts(predicate, *in_force):
    """Return the kinds of lint findings with their counterexamples."""
    found = lint(predicate, in_force=in_force, catalogue=CATALOGUE)
    return [(finding.kind, finding.counterexample) for finding in found]


@pytest.mark.parametrize(
    "text",
    [
        'slots.price <= money("100.00 EUR")',
        'slots.ingredients excludes "peanut"',
        "slots.nights >= 2 or slots.nights < 1",
        'attested("policy-7")',
    ],
)
def test_a_plain_predicate_raises_no_doubt(text):
    """What can hold and fail and reads declared slots passes without a finding."""
    assert [] == find_doubts(confirm("N", text), confirm("P", "slots.nights <= 9"))


def test_a_contradiction_names_the_others_and_an_example():
    """A predicate that excludes one in force comes with a commitment that shows it."""
    old = confirm("P1", "slots.nights >= 5")
    far = confirm("P2", "slots.nights >= 9", scenes=("phone",))
    found = lint(
        confirm("N", "slots.nights <= 3", scenes=("travel",)), in_force=(old, far),
        catalogue=CATALOGUE,
    )  # fmt: skip

    assert [(LintKind.CONTRADICTORY, ("P1",))] == [(f.kind, f.predicate_ids) for f in found]
    assert "nights = 0 satisfies it and not P1" == found[0].counterexample


def test_a_predicate_of_another_subject_or_scene_is_no_contradiction():
    """Predicates that never meet on one candidate do not contradict each other."""
    other = confirm("P1", "slots.nights >= 5", subject="child")
    elsewhere = confirm("P2", "slots.nights >= 5", scenes=("phone",))

    assert [] == find_doubts(
        confirm("N", "slots.nights <= 3", scenes=("travel",)), other, elsewhere
    )


@pytest.mark.parametrize(
    ("text", "unless", "kind"),
    [
        ("slots.nights > 3 and slots.nights < 4", None, LintKind.CONTRADICTORY),
        ("slots.nights <= 3 or slots.nights > 2", None, LintKind.VACUOUS),
        ("slots.channel not_in []", None, LintKind.VACUOUS),
        ("not (slots.nights > 3 and slots.nights < 4)", None, LintKind.VACUOUS),
        ("slots.nights in [] or slots.nights < 4", None, LintKind.VACUOUS),
        ('slots.channel != "phone"', 'slots.channel == "post"', LintKind.VACUOUS),
        ('slots.channel != "phone"', 'slots.channel == folded "Phone"', LintKind.SHADOWED),
        ("slots.nights <= 3", "slots.nights >= 3", LintKind.SHADOWED),
        ('slots.wine == "red"', None, LintKind.UNMATCHED),
        ("slots.nights == 2.5 or slots.nights == 3", None, LintKind.VACUOUS),
        ('slots.nights == "2"', None, LintKind.ILL_TYPED),
        ("slots.nights ==", None, LintKind.UNREADABLE),
    ],
)
def test_each_doubt_has_its_kind(text, unless, kind):
    """Contradictory, vacuous, shadowed, unmatched, ill typed and unreadable are told apart."""
    found = lint(confirm("N", text, unless=unless), in_force=(), catalogue=CATALOGUE)

    assert kind in [finding.kind for finding in found]


def test_an_exception_that_can_be_missing_shadows_nothing():
    """An exception on a slot that the rule does not read may be absent: no shadow."""
    predicate = confirm("N", 'slots.channel != "phone"', unless='slots.role == "carer"')

    assert [] == find_doubts(predicate)


def test_a_scene_that_is_not_declared_is_named():
    """A misspelt scene is found, and the declared ones are listed."""
    found = find_doubts(confirm("N", "slots.nights == 2", scenes=("travle",)))

    assert [(LintKind.UNMATCHED, "declared: travel, phone")] == found


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("slots.nights <= 3.5", None),
        ("slots.day >= as_of", None),
        ('slots.channel contains "x"', "contains on a slot of type string"),
        ('slots.ingredients == "x"', "list and string are never compared"),
        ("slots.channel in [1]", "string is never in a list of int"),
        ("slots.channel < slots.role", "string has no order"),
        ("all d in slots.nights: d == 1", "int is no list"),
        ("slots.wine == 1", "no such slot is declared"),
        ('slots.day == local("2026-03-01T08:00")', "date and local are never compared"),
        ("count(slots.ingredients) <= 2", None),
    ],
)
def test_types_are_checked_before_any_value(text, detail):
    """Sides that can never be compared are found from the declarations alone."""
    found = [finding.detail for finding in check_types(parse(text), declare_slots(BOOKING))]

    assert ([] if detail is None else [detail]) == found


def test_reads_are_listed_by_root():
    """All that an expression reads is known, variables and the amended commitment included."""
    expression = parse(
        "(all d in slots.days: d.x == state.y) and unit.price <= slots.cap "
        'and amended.cabin == "b" and attested("c") and exists(slots.z.w)'
    )

    reads = Reads(("cap", "days", "z"), ("y",), ("price",), ("cabin",), ("c",))
    assert reads == collect_reads(expression)
    assert ("cabin", "cap", "days", "z") == read_slots(expression)
    assert not is_relative(expression)
    assert is_relative(parse('slots.at >= after("P1D")'))


def make_occasion(**changes):
    """Return a turn of the scene travel."""
    plain = {"scene": "travel", "as_of_ms": 100, "user": "u1", "participants": ("child",),
             "types": {"booking": BOOKING, "call": CALL}}  # fmt: skip
    return Occasion(**{**plain, **changes})


@pytest.mark.parametrize(
    ("changes", "kind", "expected"),
    [
        ({}, "booking", True),
        ({}, "call", False),
        ({}, "unheard_of", True),
        ({"scenes": ("travel",)}, "call", True),
        ({"scenes": ("phone",)}, "booking", False),
        ({"subject": "child"}, "booking", True),
        ({"subject": "u1"}, "booking", True),
        ({"subject": "stranger"}, "booking", False),
        ({"interval": (100, 101)}, "booking", True),
        ({"interval": (101, None)}, "booking", False),
        ({"interval": (None, 100)}, "booking", False),
        ({"text": 'attested("policy-7")'}, "call", True),
        ({"text": "state.consent == true"}, "call", True),
        ({"text": "amended.nights <= 3"}, "booking", True),
        ({"text": "not a predicate"}, "call", True),
        ({"dimensions": ("billing",)}, "booking", False),
        ({"dimensions": ("billing", "safety")}, "booking", True),
        ({"unless": 'slots.number == "1"'}, "call", False),
    ],
)
def test_a_predicate_applies_where_it_can_be_asked(changes, kind, expected):
    """Scene, subject, interval, declared slots and spared dimensions decide what applies."""
    text = changes.pop("text", "slots.nights <= 3") if "text" in changes else "slots.nights <= 3"
    predicate = confirm("P", text, **{k: v for k, v in changes.items() if k != "text"})

    assert expected is applies(predicate, commitment_type=kind, occasion=make_occasion())


@pytest.mark.parametrize(
    ("zone", "words"), [(None, "needs a zone"), ("Mars/Base", "Mars/Base"), ("UTC", "9999")]
)
def test_a_threshold_that_cannot_be_resolved_is_refused(zone, words):
    """A calendar duration needs a known zone and a year that exists."""
    period = "P9000Y" if zone == "UTC" else "P30D"
    expression = parse(f'not (slots.at >= after("{period}") or slots.b == 1)')

    with pytest.raises(ResolutionError, match=words):
        resolve(expression, 1_770_737_400_000, zone)
