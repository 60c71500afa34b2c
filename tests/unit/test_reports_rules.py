"""Public fault reports of rule engines, told to the whole core: what confirming and judging do.

The language itself is tested beside it; here a rule is confirmed by an event and decides a turn.
"""

from decimal import Decimal

import pytest

from schemas.catalogue import SlotType
from schemas.outcome import Act, Commitment, Reason
from schemas.record import RecordError
from schemas.row import PredicateRow
from schemas.value import RecordValue, Timestamp, build_record
from tests.lcv import candidate, typed
from tests.situations import slot
from tests.talk import ask, at, begin, chosen, confirmed, read_ms, violations


def decide(rule, kind, value, **changes):
    """Return the outcome for one candidate that carries ``x`` under one confirmed rule."""
    talk = begin(typed("do", slot("x", slot_type=kind)))
    assert talk.tell(confirmed("P1", rule, **changes)).fate.seq == 1
    return ask(talk, "t1", candidate("do", x=value))


@pytest.mark.parametrize(
    ("value", "committed"),
    [
        (Decimal(500), True),
        (Decimal("500.01"), False),
        (2**63 - 1, False),
        (Decimal("9" * 38), False),
        (Decimal("NaN"), False),
        (Decimal("Infinity"), False),
        (Decimal(-1), False),
        (Decimal("1E+3"), False),
        (True, False),
    ],
)
def test_r73_no_number_slips_through_a_cap(value, committed):
    """R73: exact, never negative, no way round; a number that no record holds is refused."""
    rule = "slots.x <= 500 and slots.x >= 0"
    if not isinstance(value, bool) and not Decimal(value).is_finite():
        with pytest.raises(RecordError, match="is no number"):
            decide(rule, SlotType.DECIMAL, value)
        return
    outcome = decide(rule, SlotType.DECIMAL, value)

    assert committed is isinstance(outcome, Commitment)


@pytest.mark.parametrize(
    ("items", "rule", "committed"),
    [
        (("1.10", "2.20"), "sum(slots.x[*].price) <= 3.30", True),
        (("0.2", "0.7"), "sum(slots.x[*].price) >= 0.9", True),
        (("1.10", "2.21"), "sum(slots.x[*].price) <= 3.30", False),
        (("0.1",) * 3, "sum(slots.x[*].price) == 0.3", True),
        (("0.1",) * 30, "sum(slots.x[*].price) >= 3", True),
    ],
)
def test_r74_a_total_meets_its_limit_exactly(items, rule, committed):
    """R74: decimals add without tolerance."""
    rows = tuple(build_record(price=Decimal(item)) for item in items)

    assert committed is isinstance(decide(rule, SlotType.LIST, rows), Commitment)


@pytest.mark.parametrize(
    ("ingredient", "reason"),
    [
        ("Peanut", Reason.UNSUPPORTED),
        ("ｐｅａｎｕｔ", Reason.UNSUPPORTED),  # noqa: RUF001 - full-width letters
        ("pea\u200bnut", Reason.UNSUPPORTED),
        ("peanut oil", Reason.UNSUPPORTED),
        ("pe\u0430nut", Reason.VALIDATOR_FAILURE),
        ("p\u0435\u0430nut", Reason.VALIDATOR_FAILURE),
        ("chestnut", None),
        ("арахис", None),
    ],
)
def test_r76_a_look_alike_is_not_passed_in_silence(ingredient, reason):
    """R76: the same word in another dress is excluded; a mixed script ends in Abstain."""
    outcome = decide('slots.x excludes word "peanut"', SlotType.LIST, (ingredient,))

    if reason is None:
        assert isinstance(outcome, Commitment)
    else:
        assert (Act.ABSTAIN, reason) == (outcome.act, outcome.reason)


@pytest.mark.parametrize(
    ("duration", "threshold", "committed"),
    [("P30D", "2026-11-09T09:00:00+01:00", False), ("PT720H", "2026-11-09T08:00:00+01:00", True)],
)
def test_r77_thirty_days_and_720_hours_are_resolved_at_confirmation(duration, threshold, committed):
    """R77: in the event's zone a calendar duration keeps the hour of the day."""
    talk = begin(typed("call", slot("contact_at", slot_type=SlotType.TIMESTAMP)))
    rule = confirmed("P1", f'slots.contact_at >= after("{duration}")', zone="Europe/Berlin")
    talk.tell(rule, **at("2026-10-10T09:00:00+02:00"))
    call = candidate("call", contact_at=Timestamp(read_ms("2026-11-09T08:30:00+01:00")))
    outcome = ask(talk, "t1", call, when="2026-10-11T09:00:00+02:00")

    ((_, row),) = talk.view().scan(PredicateRow)
    assert f"timestamp({read_ms(threshold)})" in row.predicate.expression
    assert committed is isinstance(outcome, Commitment)


def test_r80_a_contradictory_contract_commits_nothing():
    """R80: Recontract names the three that exclude each other, with provenance, not the fourth."""
    names = ("start_hour", "end_hour", "price")
    talk = begin(typed("shift", *(slot(one, slot_type=SlotType.INT) for one in names)))
    for number, rule in enumerate(
        ("slots.start_hour >= 18", "slots.end_hour <= 17", "slots.start_hour < slots.end_hour",
         "slots.price <= 50"),
        start=1,
    ):  # fmt: skip
        talk.tell(confirmed(f"P{number}", rule), event_id=f"c{number}")
    offers = (
        candidate("shift", start_hour=18, end_hour=17, price=10),
        candidate("shift", start_hour=16, end_hour=17, price=10),
    )
    act = ask(talk, "t1", *offers)

    assert (Act.RECONTRACT, Reason.CONTRACT_CONFLICT) == (act.act, act.reason)
    assert [("P1", "c1"), ("P2", "c2"), ("P3", "c3")] == [
        (one.predicate_id, one.event_id) for one in act.conflict
    ]
    assert [1, 1] == violations(act, *offers)


CARER = 'slots.channel != "phone"'


@pytest.mark.parametrize("space", [" ", "\n  ", "\t\n"])
def test_r82_a_condition_on_a_line_of_its_own_still_counts(space):
    """R82: sometimes never becomes always, on one line or on several."""
    talk = begin(typed("notify", slot("channel"), slot("role")))
    talk.tell(confirmed("P1", f'{CARER}{space}unless slots.role == "carer"'))
    carer = candidate("notify", channel="phone", role="carer")
    neighbour = candidate("notify", channel="phone", role="neighbour")
    outcome = ask(talk, "t1", carer, neighbour)

    assert ([0, 1], 0) == (violations(outcome, carer, neighbour), chosen(outcome, carer, neighbour))


@pytest.mark.parametrize(
    "rest",
    ['unles slots.role == "carer"', "THIS IS NOT VALID", 'slots.role == "carer"', "and", "("],
)
def test_r82_a_rule_that_does_not_compile_cannot_be_confirmed(rest):
    """R82: the whole text is read or the confirmation is rejected; nothing governs in part."""
    talk = begin(typed("notify", slot("channel"), slot("role")))
    step = talk.tell(confirmed("P1", f"{CARER} {rest}"))

    assert "schema_violation" == step.fate.reason.value
    assert "character" in step.fate.detail
    assert [] == talk.view().scan(PredicateRow)


@pytest.mark.parametrize(
    ("value", "committed"),
    [(3, True), (Decimal("3.0"), True), (Decimal("3.00"), True), (Decimal("2.5"), False)],
)
def test_r83_whole_numbers_and_decimals_are_one_line(value, committed):
    """R83: 3 and 3.0 are equal on either side, and order agrees both ways."""
    for rule in ("slots.x == 3", "3 == slots.x", "slots.x >= 3.0", "3.0 <= slots.x"):
        assert committed is isinstance(decide(rule, SlotType.DECIMAL, value), Commitment)


@pytest.mark.parametrize("supplier", [{}, {"supplier": None}, {"supplier": RecordValue(())}])
def test_r70_an_omitted_field_escapes_no_rule(supplier):
    """R70: absent, null or empty: both rules are unsatisfied and nothing is committed."""
    talk = begin(typed("order", slot("dish"), slot("supplier", slot_type=SlotType.RECORD)))
    talk.tell(confirmed("P1", 'slots.supplier.id in ["A", "B"]'))
    talk.tell(confirmed("P2", 'slots.supplier.id not_in ["X"]'))
    order = candidate("order", dish="rice", **supplier)
    act = ask(talk, "t1", order)

    assert ([2], Act.CLARIFY) == (violations(act, order), act.act)
