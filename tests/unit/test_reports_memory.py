"""Public fault reports of memory systems, told as events: what is known, and what is not.

Each test names its report; the inputs are those of the report in the forms of this system.
"""

from dataclasses import replace
from datetime import date

import pytest

from infra.extraction.extraction import extract
from infra.extraction.lexicon import build_lexicon
from schemas.agreement import (
    Answer,
    ClarificationAnswered,
    PredicateConfirmed,
    PredicateProposed,
)
from schemas.catalogue import Authority, Catalogue, SlotType
from schemas.identity import predicate_digest
from schemas.observation import (
    HintExtracted,
    HintKind,
    UtteranceOrigin,
)
from schemas.outcome import Act, Reason
from schemas.packet import BudgetPart, Packet
from schemas.row import EventRow, PredicateRow, ProposalRow, SlotRow, StatementRow
from schemas.turn import UnitScore
from tests.conversation import GENERATOR, OPERATOR, TOOL, USER
from tests.given import event, given, hint, turn
from tests.given import said as utterance
from tests.lcv import candidate, typed
from tests.situations import predicate, request, scene, slot
from tests.talk import (
    ask,
    at,
    begin,
    chosen,
    confirmed,
    form,
    packet_of,
    read_ms,
    said,
    unmet,
    violations,
)

ASSISTANT = replace(GENERATOR, kind=type(GENERATOR.kind).ASSISTANT)


@pytest.mark.parametrize(
    "stances", [("like", "dislike"), ("dislike", "like"), ("like", "dislike", "like")]
)
def test_r01_the_later_of_two_opposite_likings_stands(stances):
    """R01: neither is lost, the last one counts, each at its time, and none is in the contract."""
    days = [read_ms(f"2026-0{month}-02T12:00:00+01:00") for month in (1, 3, 5)]
    events = []
    for number, (stance, at_ms) in enumerate(zip(stances, days, strict=False)):
        events += [
            event(utterance(f"{stance} hotpot"), event_id=f"e{number}", at_ms=at_ms),
            event(
                hint("hotpot", stance, kind=HintKind.PREFERENCE, sources=(f"e{number}",)),
                by="generator:g",
                at_ms=at_ms,
            ),
        ]
    history = given(events)

    for number, stance in enumerate(stances):
        told = history.situation(turn(as_of_ms=days[number] + 1_000))
        (state, _) = told.preferences["", "hotpot"]
        assert (stance, Authority.INFERRED) == (state.value, state.authority)
        assert () == told.contract
    assert len(stances) == len(history.scan(EventRow))


NOTIFY = typed("notify", slot("channel"), slot("topic"))


@pytest.mark.parametrize("kind", [HintKind.CONSTRAINT, HintKind.PREFERENCE])
def test_r02_a_broader_restatement_leaves_rule_and_exception_alone(kind):
    """R02: it is an open proposal; the exception still lets the emergency through, cited."""
    talk = begin(NOTIFY)
    rule = 'slots.channel not_in ["phone"]'
    talk.tell(
        confirmed("P1", rule, unless='slots.topic == "school_emergency"', dimensions=("calls",))
    )
    talk.tell(said("Please never call me."), event_id="said")
    broader = predicate("P1", rule)
    talk.tell(
        HintExtracted(kind, "", "", None, broader, 900_000, ("said",))
        if kind is HintKind.CONSTRAINT
        else PredicateProposed(broader, (), kind),
        by=GENERATOR,
    )
    urgent = candidate("notify", cites=("1#p:P1",), channel="phone", topic="school_emergency")
    news = candidate("notify", cites=("1#p:P1",), channel="phone", topic="newsletter")
    outcome = ask(talk, "t1", urgent, news)

    assert [0, 1] == violations(outcome, urgent, news)
    assert 0 == chosen(outcome, urgent, news)
    assert [("1#p:P1", True, BudgetPart.TAIL)] == [
        (one.unit_id, one.tail_witness, one.part) for one in packet_of(talk, "t1").units[:1]
    ]
    (row,) = [row for _, row in talk.view().scan(PredicateRow)]
    assert (None, 'slots.topic == "school_emergency"') == (row.ended_seq, row.predicate.unless)
    assert ["open"] == [row.status for _, row in talk.view().scan(ProposalRow)]


SHIP = typed("ship", slot("city"))


@pytest.mark.parametrize(
    ("as_of", "place", "missing"),
    [
        ("2026-03-01T00:00:00+00:00", 1, [["home_city"], []]),
        ("2025-12-01T00:00:00+00:00", 0, [[], ["home_city"]]),
    ],
)
def test_r04_a_superseded_fact_covers_nothing_however_relevant(as_of, place, missing):
    """R04: what was replaced covers nothing now; at the earlier moment it is the right one."""
    talk = begin(SHIP, required_dimensions=("home_city",))
    talk.tell(form(home_city="Leeds"), **at("2025-11-03T09:00:00+00:00"))
    talk.tell(form(home_city="Ghent"), **at("2026-02-18T09:00:00+00:00"))
    leeds = candidate("ship", cites=("1#0",), city="Leeds")
    ghent = candidate("ship", cites=("2#0",), city="Ghent")

    outcome = ask(
        talk, "t1", leeds, ghent, by=OPERATOR, as_of_ms=read_ms(as_of),
        scores=(UnitScore("1#0", 950_000, None), UnitScore("2#0", 400_000, None)),
    )  # fmt: skip

    assert place == chosen(outcome, leeds, ghent)
    assert missing == [unmet(outcome, one) for one in (leeds, ghent)]
    assert [f"{place + 1}#0"] == [one.unit_id for one in packet_of(talk, "t1").units]


@pytest.mark.parametrize("ingested", ["2024-03-01T00:31:00+09:00", "2026-06-20T08:00:00+00:00"])
def test_r05_an_import_is_folded_at_its_own_time(ingested):
    """R05: no byte of state, packet or outcome depends on when the event was appended."""

    def tell(append):
        talk = begin(typed("meal", slot("dish")))
        envelope = {"append_ms": read_ms(append)}
        occurred = {"occurred_at_ms": read_ms("2024-03-01T00:30:00+09:00")}
        talk.tell(said("Yesterday I started the gluten-free diet."), **occurred, **envelope)
        ask(talk, "t1", candidate(dish="rice"), when="2026-06-21T08:00:00+00:00")
        return talk

    first, second = tell(ingested), tell("2026-06-20T23:59:59+00:00")

    assert first.outputs == second.outputs
    assert first.view().own == second.view().own
    ((_, row),) = first.view().scan(EventRow)
    assert read_ms("2024-03-01T00:30:00+09:00") == row.effective_ms


def test_r05_yesterday_is_counted_from_the_local_day_of_the_event():
    """R05: at half past midnight in Tokyo it is the local day before, read twice the same."""
    spoken = event(
        utterance("Yesterday I started the gluten-free diet."),
        at_ms=read_ms("2024-03-01T00:30:00+09:00"),
        utc_offset_min=540,
    )
    diet = Catalogue("diets", (scene(),), (typed("meal", slot("diet")),), (), ())
    first, again = (extract(spoken, build_lexicon(diet)) for _ in range(2))

    assert first == again
    assert {"diet.gluten_free.since": date(2024, 2, 29)} == {
        one.payload.slot: one.payload.value for one in first
    }


RECALLED = "User is 31 and a search-engine developer."


def test_r07_recalled_text_and_assistants_compile_to_nothing():
    """R07: one unit about the occupation, no age, and repetition raises nothing."""
    talk = begin(typed("meal", slot("dish")))
    talk.tell(form(occupation="archivist"))
    for origin in (UtteranceOrigin.RECALLED, UtteranceOrigin.SUMMARY, UtteranceOrigin.DOCUMENT):
        for sender in (TOOL, ASSISTANT, USER, GENERATOR):
            talk.tell(said(RECALLED, origin), by=sender)
    talk.tell(said("As a developer you will like this."), by=ASSISTANT)
    talk.tell(said(RECALLED, UtteranceOrigin.RECALLED), by=TOOL)

    rows = talk.view()
    assert [("", "occupation", "archivist")] == [
        (row.subject, row.slot, row.value) for _, row in rows.scan(SlotRow)
    ]
    assert [1] == [int(row_id) for row_id, _ in rows.scan(EventRow)]
    assert [] == rows.scan(ProposalRow) == rows.scan(StatementRow)
    ask(talk, "t1", candidate(dish="rice"), wanted_dimensions=("occupation",))
    assert ["1#0"] == [one.unit_id for one in packet_of(talk, "t1").units]


DINNER = typed("dinner", slot("ingredients", slot_type=SlotType.LIST))


def test_r08_a_story_about_a_flatmate_is_about_the_flatmate():
    """R08: it binds no dinner of the user alone, and is asked about once the flatmate dines."""
    talk = begin(DINNER)
    talk.tell(said("My flatmate can't eat shellfish, it upset our dinner plan."), event_id="e1")
    rule = predicate("avoid", 'slots.ingredients excludes "prawn"', subject="flatmate")
    hint = HintExtracted(
        HintKind.CONSTRAINT, "flatmate", "ingredients", None, rule, 800_000, ("e1",)
    )
    talk.tell(hint, by=GENERATOR)
    prawns = candidate("dinner", ingredients=("prawn", "rice"))

    alone = ask(talk, "t1", prawns)
    together = ask(talk, "t2", prawns, participants=("flatmate",))
    others = ask(talk, "t3", prawns, participants=("Flatmate", "flatmates", "flat"))

    assert (0, [0], 0) == (chosen(alone, prawns), violations(alone, prawns), chosen(others, prawns))
    assert (Act.CLARIFY, Reason.MISSING_EVIDENCE) == (together.act, together.reason)
    assert ["avoid"] == [one.predicate_id for one in together.question.options]
    assert [] == talk.view().scan(PredicateRow)
    (row,) = [row for _, row in talk.view().scan(ProposalRow)]
    assert ("flatmate", Authority.INFERRED) == (row.subject, row.authority)
    assert not [row for _, row in talk.view().scan(SlotRow) if row.slot == "avoid"]


@pytest.mark.parametrize("sources", [("e2",), ("e2", "e1"), ()])
def test_r10_what_the_assistant_suggested_is_no_fact_about_the_user(sources):
    """R10: nothing said by the assistant becomes slot, preference or rule; thanks confirm none."""
    talk = begin(typed("meal", slot("dish")))
    talk.tell(said("Which bike would suit a commute?"), event_id="e1")
    talk.tell(
        said("You prefer a step-through frame, so take model K."), by=ASSISTANT, event_id="e2"
    )
    rule = predicate("frame", 'slots.frame == "step-through"')
    talk.tell(PredicateProposed(rule, (), HintKind.CONSTRAINT), by=ASSISTANT)
    talk.tell(
        HintExtracted(HintKind.PREFERENCE, "", "frame", "step-through", None, 900_000, sources),
        by=GENERATOR,
    )
    talk.tell(said("Thanks."), event_id="e3")

    assert [] == talk.view().scan(PredicateRow) == talk.view().scan(SlotRow)
    assert ["open"] == [row.status for _, row in talk.view().scan(ProposalRow)]
    assert [Authority.HINT] == [row.authority for _, row in talk.view().scan(StatementRow)]
    refused = talk.tell(PredicateConfirmed(predicate_digest(rule), None, ()), by=ASSISTANT)
    assert "not_permitted" == refused.fate.reason.value


def tell_celery(*excluded):
    """Return a talk with an open question about each of these ingredients."""
    talk = begin(DINNER)
    for number, name in enumerate(excluded):
        talk.tell(said(f"{name} makes me ill."), event_id=f"e{number}")
        rule = predicate(name, f'slots.ingredients excludes "{name}"')
        hint = HintExtracted(
            HintKind.CONSTRAINT, "", "ingredients", None, rule, 900_000, (f"e{number}",)
        )
        talk.tell(hint, by=GENERATOR)
        act = ask(talk, f"q{number}", candidate("dinner", ingredients=(name,)))
        assert Act.CLARIFY is act.act
    return talk


def test_r11_a_yes_confirms_the_only_open_proposal():
    """R11 A: "please keep that" is about the celery: that is what enters the contract."""
    talk = tell_celery("celery")
    talk.tell(said("Yes, please keep that."))
    assert [] == talk.view().scan(PredicateRow)

    talk.tell(ClarificationAnswered(None, Answer.CONFIRM, (), ()))

    rows = [row for _, row in talk.view().scan(PredicateRow)]
    assert ['slots.ingredients excludes "celery"'] == [row.predicate.expression for row in rows]
    assert not any("keep" in row.predicate.expression for row in rows)


def test_r11_a_yes_to_two_open_proposals_confirms_neither():
    """R11 B: the answer is ambiguous: nothing is confirmed and the next turn asks again."""
    talk = tell_celery("celery", "tomato")
    talk.tell(ClarificationAnswered(None, Answer.CONFIRM, (), ()))
    again = ask(talk, "t9", candidate("dinner", ingredients=("rice",)))

    assert [] == talk.view().scan(PredicateRow)
    assert (Act.CLARIFY, Reason.AMBIGUOUS_ANSWER) == (again.act, again.reason)


@pytest.mark.parametrize("user", ["u-1", "u-2", "U-1", "u-", "u-10", "u-1 ", "u-1%"])
def test_r13_a_pool_is_one_users_whatever_the_ids_look_like(user):
    """R13: neither prefix nor case nor likeness of the id lets another user's country in."""
    talk = begin(SHIP, required_dimensions=("country",))
    talk.tell(form(country="FR"), user="u-1")
    talk.tell(form(country="JP"), user="u-10")
    own = {"u-1": ["FR"], "u-10": ["JP"]}.get(user, [])

    talk.tell(request(), user=user, event_id="t")

    shown = [one for one in talk.outputs if isinstance(one, Packet)]
    assert own == [unit.value for packet in shown for unit in packet.units]
    if not own:
        (act,) = talk.outcomes("t")
        assert (Act.CLARIFY, Reason.MISSING_EVIDENCE) == (act.act, act.reason)
