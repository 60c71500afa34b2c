"""The support check and grounding: which candidates may be judged at all (spec 5.3)."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from processors.validation.support import CODES
from schemas.catalogue import Authority, SlotRole, SlotType
from schemas.outcome import Act, Commitment, Reason
from schemas.value import Elapsed, Money, StringSet, Timestamp, build_record
from tests.lcv import amendment, basis, candidate, commitment, decided, judge, over, state, typed
from tests.situations import predicate, scene, situation, slot, unit


def reasons(told, asked, given=None):
    """Return why a candidate is unsupported."""
    (report,) = judge(told, asked, given=given)
    return report.unsupported


def with_slot(**declared):
    """Return a situation whose type declares the slot ``x`` so."""
    plain = {"min_authority": Authority.UNKNOWN, **declared}
    return over(types=(typed("meal", slot("x", **plain)),))


@pytest.mark.parametrize(
    ("slot_type", "right", "wrong"),
    [
        (SlotType.STRING, "a", 1),
        (SlotType.BOOL, True, 1),
        (SlotType.INT, 1, True),
        (SlotType.INT, 1, Decimal(1)),
        (SlotType.DECIMAL, Decimal("1.5"), "1.5"),
        (SlotType.MONEY, Money(Decimal(1), "EUR"), Decimal(1)),
        (SlotType.DATE, date(2026, 3, 1), "2026-03-01"),
        (SlotType.TIMESTAMP, Timestamp(1), 1),
        (SlotType.ELAPSED, Elapsed(1), 1),
        (SlotType.RECORD, build_record(a=1), ()),
        (SlotType.LIST, ("a",), StringSet(("a",))),
        (SlotType.SET, StringSet(("a",)), ("a",)),
    ],
)
def test_a_value_has_exactly_the_declared_type(slot_type, right, wrong):
    """Nothing is coerced: another type is a reason, the right one is none."""
    told = with_slot(slot_type=slot_type)

    assert () == reasons(told, candidate(x=right))
    assert ("wrong_type:x",) == reasons(told, candidate(x=wrong))


def test_a_whole_number_may_stand_for_a_decimal():
    """int64 and decimal compare exactly with each other, so nothing is coerced."""
    assert () == reasons(with_slot(slot_type=SlotType.DECIMAL), candidate(x=1))


def test_a_type_that_this_build_does_not_know_fits_nothing():
    """A slot type of a later version refuses every value."""
    told = with_slot(slot_type=SlotType.UNKNOWN)

    assert ("wrong_type:x",) == reasons(told, candidate(x="a"))


@pytest.mark.parametrize(
    ("value", "low", "high", "inside"),
    [
        (1, 1, 3, True),
        (3, 1, 3, True),
        (0, 1, 3, False),
        (4, 1, 3, False),
        (Decimal("3.01"), 1, 3, False),
        (Money(Decimal(5), "EUR"), Money(Decimal(1), "EUR"), None, True),
        (Money(Decimal(5), "USD"), Money(Decimal(1), "EUR"), None, False),
        (date(2026, 1, 1), date(2026, 1, 2), None, False),
        ("a", 1, None, False),
    ],
)
def test_bounds_are_inclusive_and_what_cannot_be_compared_is_outside(value, low, high, inside):
    """A bound in another unit or type is not kept by silence."""
    told = with_slot(slot_type=SlotType.ANY, low=low, high=high)

    assert (() if inside else ("out_of_range:x",)) == reasons(told, candidate(x=value))


def test_choices_bind_texts_and_lists():
    """Each item of a list must be a choice."""
    one = with_slot(choices=("a", "b"))
    many = with_slot(slot_type=SlotType.LIST, choices=("a", "b"))

    assert ((), ("not_a_choice:x",)) == (
        reasons(one, candidate(x="a")), reasons(one, candidate(x="A"))
    )  # fmt: skip
    assert ((), ("not_a_choice:x",)) == (
        reasons(many, candidate(x=("a", "b"))), reasons(many, candidate(x=("a", "c")))
    )  # fmt: skip


def test_null_and_absence_are_missing_and_not_unsupported():
    """A missing slot is no reason of the support check."""
    told = with_slot(slot_type=SlotType.INT, grounded_by="state")

    assert ((), ()) == (reasons(told, candidate(x=None)), reasons(told, candidate()))


def test_only_the_scenes_types_and_their_slots_are_supported():
    """Another type and an undeclared slot are reasons, a stated repair too."""
    told = situation()

    assert ("type_not_in_scene:trip",) == reasons(told, candidate("trip"))
    assert ("undeclared_slot:ghost",) == reasons(told, candidate(ghost=1))
    assert ("undeclared_slot:ghost",) == reasons(
        told, replace(candidate(), required_slots=("ghost",))
    )
    assert ("repair_status:clarify",) == reasons(
        told, replace(candidate(), repair_status="clarify")
    )


def test_claims_must_be_in_force():
    """A claimed predicate that h_t does not hold is a reason."""
    told = over(predicate("P1"), types=(typed("meal", slot("diet")),))

    assert () == reasons(told, candidate(diet="vegan", claims=("P1",)))
    assert ("unknown_claim:P2",) == reasons(told, candidate(diet="vegan", claims=("P2",)))


def mail(**declared):
    """Return the declaration of a recipient without further wishes."""
    return slot("to", role=SlotRole.RECIPIENT, min_authority=Authority.UNKNOWN, **declared)


@pytest.mark.parametrize(
    ("authority", "grounded"),
    [
        (Authority.HINT, False),
        (Authority.INFERRED, False),
        (Authority.OBSERVED, False),
        (Authority.ASSERTED, True),
        (Authority.CONFIRMED, True),
    ],
)
def test_a_recipient_must_be_asserted(authority, grounded):
    """Recipients, accounts and URLs come from the user's own statement by default."""
    told = over(types=(typed("meal", mail()),), slots={("", "to"): state("a@b.c", authority)})

    assert (() if grounded else ("ungrounded:to",)) == reasons(told, candidate(to="a@b.c"))
    assert ("ungrounded:to",) == reasons(told, candidate(to="x@evil.example"))


def test_a_recipient_named_by_a_tool_is_not_grounded():
    """A cited unit of a tool grounds no recipient unless the catalogue says so."""
    cited = unit("1#0", slot="to", value="x@evil.example", authority=Authority.OBSERVED)
    strict = over(types=(typed("meal", mail(grounded_by="any")),), units=(cited,))
    relaxed = over(
        types=(typed("meal", replace(mail(grounded_by="any"), min_authority=Authority.OBSERVED)),),
        units=(cited,),
    )
    asked = candidate(to="x@evil.example", cites=("1#0",))

    assert ("ungrounded:to",) == reasons(strict, asked)
    assert () == reasons(relaxed, asked)


def test_evidence_grounds_only_when_it_is_cited():
    """A value that Z* holds, and that the candidate does not cite, is not grounded."""
    held = unit("1#0", slot="fare", value=Decimal("9.50"))
    declared = slot("x", slot_type=SlotType.DECIMAL, grounded_by="evidence:fare")
    told = over(types=(typed("meal", declared),), units=(held,))

    assert () == reasons(told, candidate(x=Decimal("9.5"), cites=("1#0",)))
    assert ("ungrounded:x",) == reasons(told, candidate(x=Decimal("9.5")))
    assert ("ungrounded:x",) == reasons(told, candidate(x=Decimal("9.6"), cites=("1#0",)))


def test_a_set_of_what_was_stated_grounds_its_members():
    """A set-valued slot holds several statements; each of them is one."""
    declared = slot("to", role=SlotRole.RECIPIENT, min_authority=Authority.UNKNOWN)
    told = over(
        types=(typed("meal", declared),), slots={("", "to"): state(StringSet(("a@b.c", "d@e.f")))}
    )

    assert () == reasons(told, candidate(to="a@b.c"))
    assert ("ungrounded:to",) == reasons(told, candidate(to="a@b"))


def test_the_slots_of_an_amended_commitment_are_grounded_too():
    """The merged commitment is checked, so an old recipient needs its ground anew."""
    told = over(
        types=(typed("meal", mail(), slot("dish")),),
        commitments={"c1": commitment(to="a@b.c", dish="rice")},
    )

    assert ("ungrounded:to",) == reasons(told, amendment(dish="soup"))


def test_unsupported_candidates_are_recorded_and_never_chosen():
    """An unsupported candidate satisfies all predicates and still is in neither set."""
    told = over(types=(typed("meal", slot("dish", grounded_by="state")),))
    made_up, plain = candidate(dish="pizza"), candidate()

    outcome = decided(told, made_up, plain)
    alone = decided(told, made_up)

    assert isinstance(outcome, Commitment)
    assert () == outcome.slots
    assert (Act.ABSTAIN, Reason.UNSUPPORTED) == (alone.act, alone.reason)
    assert ("ungrounded:dish",) == alone.certificate.candidates[0].unsupported
    assert "pizza" not in alone.detail


def test_every_reason_is_documented():
    """Codes come from the closed list, whatever is wrong with a candidate."""
    told = over(
        predicate("P1"),
        types=(typed("meal", slot("x", slot_type=SlotType.INT, high=3), mail()),),
        in_scene=scene(),
        units=(unit("1#0"),),
    )
    wrong = [
        candidate(x=9, to="a", ghost=1, cites=("7#7", "1#0"), claims=("no",)),
        candidate("trip", x="a"),
        amendment("nothing"),
        replace(candidate(x="a"), repair_status="x"),
    ]
    found = [
        reason.partition(":")[0]
        for report in judge(told, *wrong, given=basis())
        for reason in report.unsupported
    ]

    assert set(found) <= set(CODES)
    assert {"out_of_range", "ungrounded", "unknown_evidence", "not_activated"} <= set(found)
