"""Faults that others reported about their rules, as inputs of the predicate language.

Each test takes one public report (named by its number in the collection) at the level of a
predicate; what follows for a whole turn is tested with the decision.
"""

from datetime import datetime
from decimal import Decimal

import pytest

from processors.predicates.conflict import Conflict, Constraint, find_conflict
from processors.predicates.evaluation import compile_predicate, evaluate
from processors.predicates.rendering import render
from processors.predicates.resolution import resolve
from processors.predicates.scope import Scope, UnitValue
from processors.predicates.text import PredicateTextError, parse
from schemas.catalogue import SlotType
from schemas.predicate import Predicate, PredicateScope
from schemas.value import Money, RecordValue, Timestamp, build_record


def judge(text, **slots):
    """Return the verdict of a text over these slots."""
    return evaluate(text, Scope(slots=slots)).verdict


def read_instant(text):
    """Return an instant written with its offset."""
    return Timestamp(int(datetime.fromisoformat(text).timestamp()) * 1_000)


@pytest.mark.parametrize("excluded", ["海老", "落花生", "새우", "فول سوداني", "🥜"])
@pytest.mark.parametrize("ingredient", ["海老", "落花生", "새우", "فول سوداني", "🥜", "牛肉"])
@pytest.mark.parametrize("match", ["folded", "word"])
def test_r14_no_script_is_folded_away(match, excluded, ingredient):
    """Words of any script, and signs, exclude themselves and nothing else."""
    expected = "fails" if excluded == ingredient else "holds"

    text = f'slots.ingredients excludes {match} "{excluded}"'
    assert expected == judge(text, ingredients=(ingredient,))


@pytest.mark.parametrize("match", ["folded", "word"])
@pytest.mark.parametrize("empty", ["\\u200b", "\\u00ad\\u2060"])
def test_r14_a_text_that_folds_to_nothing_is_refused(match, empty):
    """A comparand of which nothing is left is an error, not a key that equals everything."""
    with pytest.raises(PredicateTextError):
        parse(f'slots.ingredients excludes {match} "{empty}"')


def test_r19_absence_is_no_proof_of_absence():
    """A dish without a list of allergens does not pass an exclusion; one with a list does."""
    rule = 'slots.allergens excludes "peanut"'

    assert "missing" == judge(rule, dish="gado-gado")
    assert "holds" == judge(rule, dish="tofu rice", allergens=("soy",))
    assert "holds" == judge(rule, allergens=())


@pytest.mark.parametrize(
    ("price", "without_rate", "with_rate"),
    [
        (Money(Decimal("95.00"), "USD"), "missing", "holds"),
        (Money(Decimal("105.00"), "USD"), "missing", "holds"),
        (Money(Decimal("111.12"), "USD"), "missing", "fails"),
        (Money(Decimal("99.00"), "EUR"), "holds", "holds"),
        (Money(Decimal("95.00"), ""), "invalid", "invalid"),
        (Decimal("95.00"), "invalid", "invalid"),
    ],
)
def test_r23_currencies_are_never_taken_for_each_other(price, without_rate, with_rate):
    """Another currency is missing; an exchange-rate unit converts exactly and counts as cited."""
    rule = 'slots.price <= money("100.00 EUR")'
    rate = UnitValue("7#0", "rate:USD/EUR", Decimal("0.90"))

    plain = evaluate(rule, Scope(slots={"price": price}))
    converted = evaluate(rule, Scope(slots={"price": price}, evidence=(rate,)))

    assert (without_rate, with_rate) == (plain.verdict, converted.verdict)
    cited = ("7#0",) if isinstance(price, Money) and price.currency == "USD" else ()
    assert (cited, ()) == (converted.cited, plain.cited)


def test_r26_every_day_of_a_merged_plan_is_checked():
    """A rule over all days sees the day that a patch replaced."""
    first = build_record(tags=("vegetarian",), ingredients=("egg",))
    soy = build_record(tags=("vegetarian",), ingredients=("tofu", "soy"))
    lentil = build_record(tags=("vegetarian",), ingredients=("lentil",))
    tagged = 'all d in slots.days: d.tags contains "vegetarian"'
    for rule in (
        'none d in slots.days: d.ingredients contains folded "Soy"',
        'all d in slots.days: d.ingredients excludes "soy"',
        'slots.days[*].ingredients[*] excludes "soy"',
    ):
        assert "fails" == judge(rule, days=(first, soy))
        assert "holds" == judge(rule, days=(first, lentil))
    assert "holds" == judge(tagged, days=(first, lentil))
    assert "missing" == judge(tagged, days=(first, RecordValue(())))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (False, "holds"),
        (True, "fails"),
        ("false", "invalid"),
        ("False", "invalid"),
        ("no", "invalid"),
        ("0", "invalid"),
        (0, "invalid"),
        ("", "invalid"),
        (None, "missing"),
    ],
)
def test_r34_nothing_is_coerced_to_a_truth_value(value, expected):
    """Only true and false are truth values."""
    assert expected == judge("slots.contains_peanut == false", contains_peanut=value)


@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        ({"supplier": build_record(id="A")}, ("holds", "holds")),
        ({"supplier": build_record(id="X")}, ("fails", "fails")),
        ({"supplier": build_record()}, ("missing", "missing")),
        ({}, ("missing", "missing")),
        ({"supplier": None}, ("missing", "missing")),
        ({"supplier": build_record(id=None)}, ("missing", "missing")),
    ],
)
def test_r70_an_omitted_field_escapes_no_rule(slots, expected):
    """Missing or null satisfies neither the positive nor the negative rule."""
    rules = ('slots.supplier.id in ["A", "B"]', 'slots.supplier.id not_in ["X"]')

    assert expected == tuple(judge(rule, **slots) for rule in rules)


@pytest.mark.parametrize(
    ("allergens", "expected"),
    [
        ("peanut, sesame", "invalid"),
        (build_record(peanut=True), "invalid"),
        (("sesame",), "holds"),
        (("sesame", 7), "invalid"),
        (("peanut", 7), "fails"),
    ],
)
def test_r71_a_wrong_type_satisfies_nothing(allergens, expected):
    """A string is no list to search in, and a number among strings leaves the question open."""
    assert expected == judge('slots.allergens excludes "peanut"', allergens=allergens)


@pytest.mark.parametrize(
    ("ingredient", "peanut", "jalapeno"),
    [
        ("Peanut", "fails", "holds"),
        ("ｐｅａｎｕｔ", "fails", "holds"),  # noqa: RUF001 - full-width letters
        ("pea\u200bnut", "fails", "holds"),
        ("pea\u034fnut", "fails", "holds"),
        ("jalapen\u0303o", "holds", "fails"),
        ("pe\u0430nut", "invalid", "invalid"),
        ("peanut oil", "fails", "holds"),
        ("chestnut", "holds", "holds"),
        ("pea\ue000nut", "invalid", "invalid"),
    ],
)
def test_r76_look_alikes_do_not_pass(ingredient, peanut, jalapeno):
    """Width, case, invisible and composed characters change nothing; mixed scripts are invalid."""
    first = judge('slots.ingredients excludes word "peanut"', ingredients=(ingredient,))
    second = judge('slots.ingredients excludes word "jalapeño"', ingredients=(ingredient,))

    assert (peanut, jalapeno) == (first, second)


def test_r77_calendar_and_elapsed_durations_differ_by_an_hour():
    """Thirty days after summer time ends an hour later than 720 hours."""
    confirmed = read_instant("2026-10-10T09:00:00+02:00").at_ms
    contact = read_instant("2026-11-09T08:30:00+01:00")
    days = resolve(parse('slots.contact_at >= after("P30D")'), confirmed, "Europe/Berlin")
    hours = resolve(parse('slots.contact_at >= after("PT720H")'), confirmed, "Europe/Berlin")

    at_nine = read_instant("2026-11-09T09:00:00+01:00").at_ms
    at_eight = read_instant("2026-11-09T08:00:00+01:00").at_ms
    assert f"slots.contact_at >= timestamp({at_nine})" == render(days)
    assert f"slots.contact_at >= timestamp({at_eight})" == render(hours)
    assert "fails" == judge(render(days), contact_at=contact)
    assert "holds" == judge(render(hours), contact_at=contact)


def test_r79_what_was_not_checked_is_not_satisfied():
    """A check without verdict is missing, a failed run invalid, and neither counts as passed."""
    rule = 'attested("policy-7")'
    found = [
        evaluate(rule, Scope(slots={}, verdicts=verdicts)).verdict
        for verdicts in ({}, {"policy-7": "pass"}, {"policy-7": "fail"}, {"policy-7": "error"})
    ]

    assert ["missing", "holds", "fails", "invalid"] == found


def test_r79_an_unreadable_predicate_is_invalid():
    """A predicate whose text cannot be read is satisfied by nothing, and says why."""
    broken = Predicate(
        "P1", "slots.a >", None, (), "", PredicateScope.STANDING, None, None, (), None
    )
    found = compile_predicate(broken)(Scope(slots={"a": 1}))

    assert "invalid" == found.verdict
    assert "character 9" in found.reason


@pytest.mark.parametrize("types", [{}, {"slots.start_hour": SlotType.INT}])
def test_r80_a_conflict_names_its_members_only(types):
    """Three promises that exclude each other are the core; the price has no part in it."""
    contract = (
        Constraint("P1", "slots.start_hour >= 18"),
        Constraint("P2", "slots.end_hour <= 17"),
        Constraint("P3", "slots.start_hour < slots.end_hour"),
        Constraint("P4", "slots.price <= 50"),
    )

    assert Conflict(("P1", "P2", "P3")) == find_conflict(contract, types=types)
    for left_out in range(3):
        rest = [c for at, c in enumerate(contract) if at != left_out]
        assert find_conflict(rest, types=types) is None


@pytest.mark.parametrize("space", [" ", "\n  ", "\t"])
def test_r82_a_condition_on_a_line_of_its_own_still_counts(space):
    """An exception is part of its rule on one line or on several."""
    rule = f'slots.channel != "phone"{space}unless slots.role == "carer"'

    assert "holds" == judge(rule, channel="phone", role="carer")
    assert "fails" == judge(rule, channel="phone", role="neighbour")


@pytest.mark.parametrize(
    "text",
    [
        'slots.channel != "phone" unles slots.role == "carer"',
        'slots.channel != "phone" THIS IS NOT VALID',
        'slots.channel != "phone" slots.role == "carer"',
        "allow slots.channel == 'phone' wehn slots.role == 'carer'",
    ],
)
def test_r82_what_cannot_be_read_is_refused(text):
    """The whole text must be consumed; nothing is dropped to make a rule of the rest."""
    with pytest.raises(PredicateTextError):
        parse(text)
