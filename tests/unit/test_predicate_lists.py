"""Quantifiers and lists: what holds over nothing is recorded, and long work is bounded."""

import pytest

from processors.predicates.evaluation import Evaluation, evaluate
from processors.predicates.scope import Scope
from processors.predicates.verdict import HOLDS
from schemas.value import build_record


def verdict(text, scope=None, **slots):
    """Return the verdict of a text over these slots."""
    return evaluate(text, scope or Scope(slots=slots)).verdict


@pytest.mark.parametrize(
    ("word", "some", "empty"), [("all", "fails", "holds"), ("any", "holds", "fails"),
                                ("none", "fails", "holds")],
)  # fmt: skip
def test_an_empty_list_is_recorded_when_a_rule_holds_over_it(word, some, empty):
    """all and none hold over nothing, and say so; any fails over nothing."""
    text = f"{word} d in slots.days: d == 1"

    assert some == verdict(text, days=(1, 2))
    found = evaluate(text, Scope(slots={"days": ()}))
    assert Evaluation(empty, ("slots.days",) if empty == HOLDS else ()) == found


def test_a_vacuous_path_is_named_from_the_slot():
    """The list inside a list is named by its full path, for the requirement it adds."""
    text = "all d in slots.days: all m in d.meals: m.price <= 5"
    days = (build_record(meals=()), build_record(meals=(build_record(price=3),)))

    found = evaluate(text, Scope(slots={"days": days}))

    assert Evaluation(HOLDS, ("slots.days[*].meals",)) == found


def test_a_true_alternative_is_preferred_to_a_vacuous_one():
    """A disjunction that holds over something is not recorded as holding over nothing."""
    text = "all d in slots.days: d == 1 or slots.a == 1"
    first = "(all d in slots.days: d == 1) or slots.a == 1"

    assert Evaluation(HOLDS, ("slots.days",)) == evaluate(text, Scope(slots={"days": ()}))
    assert Evaluation(HOLDS) == evaluate(first, Scope(slots={"days": (), "a": 1}))
    assert ("slots.days",) == evaluate(first, Scope(slots={"days": (), "a": 2})).vacuous


@pytest.mark.parametrize(
    "text",
    [
        "all a in slots.x: all b in slots.x: a == b",
        "all a in slots.x: slots.x contains a",
        "all a in slots.x: count(slots.x) > a",
        "slots.x subset_of slots.x",
        "slots.a == 2 or (all a in slots.x: all b in slots.x: a == b)",
    ],
)
def test_work_over_lists_is_bounded(text):
    """What would look at a list again for each of its items is invalid when the list is long."""
    short, long = Scope(slots={"x": (1,) * 9}), Scope(slots={"x": (1,) * 5_000})

    assert "invalid" != verdict(text, short)
    assert "more than 100000 list items" == evaluate(text, long).reason
