"""What an auditor asks: explain, history, blast radius, enforcement, diff; small histories."""

from dataclasses import replace

import pytest

from infra.appending import append_events
from infra.audit.blast_radius import find_users, measure_blast_radius
from infra.audit.contract_history import read_contract_history
from infra.audit.differing import NothingToCompareError, compare_evaluations
from infra.audit.enforcement import read_enforcement
from infra.audit.explanation import explain_turn
from infra.audit.history import EmbeddedHistory, EmbeddedSource
from infra.audit.packet_checks import check_packets
from infra.audit.reasons import explain_act
from infra.backfill.plan import Plan
from infra.backfill.run import backfill
from processors.whatif import Override
from schemas.agreement import PredicateConfirmed, PredicateRevoked
from schemas.codec import unframe
from schemas.control import RulesetActivated
from schemas.packet import Packet
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from tests.given import (
    DAY_MS,
    MINUTE_MS,
    START_MS,
    control,
    event,
    evidence,
    form,
    genesis,
    predicate,
    said,
    turn,
    unit,
)
from tests.kitchen import candidates, meal
from tests.plain_fold import fold_plainly, number_events

NO_PORK = predicate('slots.dish != "pork"', "no-pork")
VEGAN = predicate('slots.diet == "vegan"', "diet")
HISTORY = (
    event(form(diet="vegan", mood="calm"), minute=1, event_id="form"),
    event(said("no pork for me"), minute=2, event_id="words"),
    event(said("lovely weather"), minute=3, event_id="weather"),
    event(
        PredicateConfirmed(None, NO_PORK, ()), minute=4, event_id="rule", derived_from=("words",)
    ),
    event(PredicateConfirmed(None, VEGAN, ()), minute=5, event_id="vegan"),
    event(turn(), minute=6, event_id="t1"),
    event(candidates(meal("pork", diet="vegan"), turn="t1"), minute=7, by="generator:g"),
    event(PredicateRevoked("diet"), minute=8, event_id="revoke"),
    event(turn(), minute=9, event_id="t2"),
    event(candidates(meal("soup"), turn="t2"), minute=10, by="generator:g", event_id="c2"),
)


@pytest.fixture
def log(tmp_path):
    """Return a small folded log, open."""
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        append_events(embedded, [genesis(), *HISTORY])
        embedded.fold_pending()
        yield embedded


def test_the_history_of_a_contract_names_who_and_when(log):
    """Each change has its version, its moment, its sender and its event."""
    found = read_contract_history(EmbeddedHistory(log), "acme", "ada", as_of_ms=None)

    assert [
        (1, "confirmed", "no-pork", "user ada", "rule"),
        (2, "confirmed", "diet", "user ada", "vegan"),
        (3, "revoked", "diet", "user ada", "revoke"),
    ] == [(c.version, c.change, c.predicate_id, c.by, c.event_id) for c in found.changes]
    assert ["no-pork"] == [row.predicate.predicate_id for row in found.in_force]


@pytest.mark.parametrize(
    ("minutes", "expected"), [(3, []), (4, ["no-pork"]), (7, ["diet", "no-pork"]), (8, ["no-pork"])]
)
def test_as_of_shows_what_held_then(log, minutes, expected):
    """At a moment what was confirmed before it and had not ended is in force."""
    moment = START_MS + minutes * MINUTE_MS
    found = read_contract_history(EmbeddedHistory(log), "acme", "ada", as_of_ms=moment)

    assert expected == [row.predicate.predicate_id for row in found.in_force]
    assert read_contract_history(EmbeddedHistory(log), "acme", "bob", as_of_ms=None) is None


def test_the_blast_radius_of_a_rule_is_what_it_stopped(log):
    """Without the confirmation the verdict is gone and the turn ends in the commitment."""
    found = measure_blast_radius(EmbeddedHistory(log), "acme", "ada", "rule")

    assert [("t1", "no-pork", "fails", ""), ("t2", "no-pork", "holds", "")] == [
        (flip.turn_id, flip.predicate_id, flip.recorded, flip.without) for flip in found.verdicts
    ]
    (ending,) = found.endings
    assert ("t1", "commitment") == (ending.turn_id, ending.without.partition(" ")[0])
    assert 1 == len(found.commitments)
    assert ("t1",) == found.acts


def test_a_blast_radius_reaches_what_was_derived(log):
    """Without the words the rule derived from them goes too."""
    found = measure_blast_radius(EmbeddedHistory(log), "acme", "ada", "words")

    assert ("rule",) == found.derived
    assert {"no-pork"} == {flip.predicate_id for flip in found.verdicts}


def test_an_event_on_which_nothing_rests_flips_nothing(log):
    """Small talk carries no verdict; an unknown event has no radius."""
    found = measure_blast_radius(EmbeddedHistory(log), "acme", "ada", "weather")

    assert ((), ()) == (found.verdicts, found.endings)
    assert measure_blast_radius(EmbeddedHistory(log), "acme", "ada", "nope") is None
    assert [("acme", "ada")] == find_users(EmbeddedHistory(log), "rule")


def test_every_outcome_under_a_rule_rests_on_it(log):
    """A commitment made while the rule is in force is in the radius of its confirmation."""
    append_events(
        log,
        [
            event(turn(), minute=11, event_id="t3"),
            event(candidates(meal("rice"), turn="t3"), minute=12, by="generator:g"),
        ],
    )
    log.fold_pending()
    found = measure_blast_radius(EmbeddedHistory(log), "acme", "ada", "rule")

    assert 2 == len(found.commitments)


def test_enforcement_tells_rule_slot_and_talk_apart(log):
    """A rule and the words it came of are enforced, a slot is evidence, talk is uncompiled."""
    found = read_enforcement(EmbeddedHistory(log), "acme", "ada")
    reach = {statement.text: statement.status.value for statement in found.statements}

    assert {
        'slots.dish != "pork"': "enforced",
        "no pork for me": "enforced",
        "diet: vegan": "evidence_only",
        "mood: calm": "evidence_only",
        "lovely weather": "uncompiled",
    } == reach
    assert {"enforced": 2, "evidence_only": 2, "uncompiled": 1} == found.counts
    assert 200_000 == found.uncompiled_rate
    assert read_enforcement(EmbeddedHistory(log), "acme", "bob") is None


def test_a_slot_that_a_rule_fixes_is_enforced(log):
    """While the predicate that fixes a slot's value is in force the statement is enforced."""
    append_events(log, [event(PredicateConfirmed(None, VEGAN, ()), minute=20)])
    log.fold_pending()
    found = read_enforcement(EmbeddedHistory(log), "acme", "ada")

    (fixed,) = [one for one in found.statements if one.text == "diet: vegan"]
    assert ("enforced", "predicate diet fixes it") == (fixed.status.value, fixed.because)


def test_an_act_is_explained_by_the_rule_that_led_to_it(log):
    """Why names the rule of the diagnosis, or the candidate with the greatest S."""
    (stopped,) = explain_turn(log, "t1")
    (chosen,) = explain_turn(log, "t2")

    assert any("violates no-pork" in sentence for sentence in explain_act(stopped.outcome))
    assert any("greatest S" in sentence for sentence in explain_act(chosen.outcome))


def crowded():
    """Return a history of more units than a packet spells out, and one turn."""
    notes = [
        event(
            evidence(unit(f"note {n} about soup", dimensions=(f"d{n % 7}",))),
            minute=n,
            event_id=f"n{n}",
        )
        for n in range(60)
    ]
    asked = turn(text="soup", wanted_dimensions=("d1", "d2"), budget_main=90)
    return [genesis(), *notes, event(asked, at_ms=START_MS + DAY_MS, event_id="t")]


def packet_under(events, budget_main):
    """Return the packet of the last event under another main budget."""
    asked = events[-1]
    payload = replace(asked.payload, budget_main=budget_main)
    outputs = fold_plainly(number_events([*events[:-1], replace(asked, payload=payload)])).outputs
    return unframe(Packet, outputs[-1][3])[0]


def test_explain_proves_the_terms_that_a_packet_only_digests(tmp_path):
    """The packet is recomputed byte for byte; terms of the other units have its digest."""
    events = crowded()
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        append_events(embedded, events)
        embedded.fold_pending()
        (explained,) = explain_turn(embedded, "t")
        (check,) = check_packets(EmbeddedHistory(embedded), explained.packets, units_max=6)

    packet = explained.packets[0]
    assert check.same_packet
    assert check.terms_proven
    assert 60 == len(packet.units) + len(packet.left_out) + len(check.others)
    assert len(check.others) > 0


def test_a_unit_enters_at_the_budget_that_explain_names(tmp_path):
    """With the named main budget the unit is in Z*, with one less it is not."""
    events = crowded()
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        append_events(embedded, events)
        embedded.fold_pending()
        (explained,) = explain_turn(embedded, "t")
        (check,) = check_packets(EmbeddedHistory(embedded), explained.packets, units_max=3)

    assert 3 == len(check.entering)
    for one in check.entering:
        taken, before = (
            {shown.unit_id for shown in packet_under(events, budget).units}
            for budget in (one.budget_main, one.budget_main - 1)
        )
        assert one.unit_id in taken
        assert one.unit_id not in before


def test_explain_searches_as_far_as_the_rules_in_force(tmp_path):
    """Under ruleset 2 a better cover is searched: what may enter is what the packet left out."""
    units = (
        unit("tea", dimensions=("a",), cost=3),
        unit("oats", dimensions=("c",), cost=2),
        unit("toast", dimensions=("a", "b"), cost=8),
    )
    asked = turn(wanted_dimensions=("a", "b", "c"), budget_main=10)
    given = [event(evidence(*units), minute=1), event(asked, minute=2, event_id="t")]
    events = [genesis(), control(RulesetActivated(2)), *given]

    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        append_events(embedded, events)
        embedded.fold_pending()
        (explained,) = explain_turn(embedded, "t")
        (check,) = check_packets(EmbeddedHistory(embedded), explained.packets, units_max=3)

    packet = explained.packets[0]
    assert check.same_packet
    assert ["oats", "toast"] == sorted(one.content for one in packet.units)
    assert [one.unit_id for one in packet.left_out] == [one.unit_id for one in check.entering]
    (entering,) = check.entering
    taken, before = (
        {one.unit_id for one in packet_under(events, entering.budget_main - less).units}
        for less in (0, 1)
    )
    assert entering.unit_id in taken
    assert entering.unit_id not in before


def test_diff_names_the_turns_that_end_otherwise(log, tmp_path):
    """A backfill without a rule differs from the log in the turn that the rule stopped."""
    source = EmbeddedSource(tmp_path / "log")
    plan = Plan(override=Override(without=("no-pork",)))
    backfill(source, plan, tmp_path / "freer", lambda done, left: None)
    backfill(source, Plan(), tmp_path / "plain", lambda done, left: None)

    found = compare_evaluations(tmp_path / "log", tmp_path / "freer")
    assert ["t1"] == [one.turn_id for one in found.differences]
    assert (2, 1) == (found.turns, found.same)
    assert () == compare_evaluations(tmp_path / "log", tmp_path / "plain").differences


def test_diff_refuses_a_folder_without_an_evaluation(tmp_path):
    """An empty folder is named with what may stand there."""
    with pytest.raises(NothingToCompareError, match="neither a backfill, nor a log, nor an arch"):
        compare_evaluations(tmp_path, tmp_path)
