"""Nothing that is emitted contradicts the independent auditor, whatever was told.

No commitment has nu_h > 0 or nu_c > 0, no repair act gives a value away, every turn has one
outcome; and the auditor finds it when one of these is forged.
"""

import ast
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.importers.sgd import CANDIDATES, import_sgd
from schemas.agreement import PredicateConfirmed
from schemas.candidate import SlotValue
from schemas.outcome import Commitment, RepairAct, Verdict
from tests.audited_fold import audit_conversation, audit_events, hear
from tests.auditor import Auditor
from tests.conversation import GENERATOR, USER
from tests.kitchen import candidates, form, meal, started
from tests.random_history import tell_crowd, tell_history
from tests.restaurant import tell_restaurant
from tests.situations import predicate, request

TESTS = Path(__file__).parent.parent
SAMPLE = TESTS.parent / "infra" / "sample"
seeds = st.integers(0, 10**9)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_no_outcome_of_a_drawn_history_is_objected_to(seed):
    """Verdicts, requirements, evidence, contract and texts agree with the auditor's own."""
    assert [] == audit_conversation(tell_history(seed, 80)).findings


@settings(max_examples=8, deadline=None)
@given(seeds)
def test_no_outcome_of_a_crowd_is_objected_to(seed):
    """Users of one partition have nothing of each other in their contracts and acts."""
    assert [] == audit_conversation(tell_crowd(seed, users=3, events=120)).findings


def test_no_outcome_of_the_shipped_dialogues_is_objected_to():
    """Right and made-wrong candidates of real dialogues: each outcome stands, none unjudged."""
    auditor = audit_events(import_sgd([SAMPLE], frozenset(CANDIDATES)))

    assert [] == auditor.findings
    assert 0 == auditor.counts["unjudged"]
    assert 10 <= auditor.counts["Commitment"]
    assert 50 <= auditor.counts["RepairAct"]


def test_no_outcome_of_a_restaurant_is_objected_to():
    """Questions, an amendment, a failure, debt, corrections and an erasure: all stand."""
    auditor = audit_conversation(tell_restaurant())

    assert ([], 0) == (auditor.findings, auditor.counts["unjudged"])
    assert 5 <= auditor.counts["Commitment"]


def test_the_auditor_shares_no_code_with_the_core():
    """Its modules import records of schemas, each other, and nothing else of this project."""
    for path in sorted(TESTS.glob("auditor*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] not in {"processors", "streams", "infra"}
                assert not name.startswith("tests.") or name.startswith("tests.auditor_")


def test_drawn_histories_reach_what_is_audited():
    """Commitments, repair acts and every verdict occur among the histories that are drawn."""
    counts = Counter()
    for seed in range(25):
        counts.update(audit_conversation(tell_history(seed, 80)).counts)

    assert 10 <= counts["Commitment"]
    assert 100 <= counts["RepairAct"]
    assert all(counts[f"verdict {one}"] for one in ("holds", "fails", "missing", "invalid"))


def tell_dinner(dish="soup"):
    """Return a conversation in which a dish was excluded and another committed."""
    told = started()
    rule = predicate("no-stew", 'slots.dish != "stew"')
    told.tell(form(diet="vegan"))
    told.tell(PredicateConfirmed(None, rule, ()), by=USER)
    told.tell(request(), event_id="turn")
    told.tell(candidates(meal(dish), meal("stew")), by=GENERATOR)
    return told


def forge(told, change, record=Commitment):
    """Return what the auditor says when the outcomes of one kind are changed."""
    auditor = Auditor()
    for event, step in told.told:
        outputs = tuple(
            one
            for output in step.outputs
            for one in (change(output) if isinstance(output, record) else (output,))
        )
        hear(auditor, event, replace(step, outputs=outputs))
    return auditor.findings


def serve_stew(outcome):
    """Commit the excluded dish, and let the certificate say that all is well."""
    reports = {one.digest: one for one in outcome.certificate.candidates}
    (other,) = [one for one in reports.values() if one.digest != outcome.candidate_digest]
    held = tuple(replace(one, verdict=Verdict.HOLDS) for one in other.verdicts)
    forged = replace(other, verdicts=held, violations=0, infeasible=0)
    whole = tuple(forged if one is other else one for one in outcome.certificate.candidates)
    return (
        replace(
            outcome,
            slots=(SlotValue("dish", "stew"),),
            candidate_digest=other.digest,
            certificate=replace(outcome.certificate, candidates=whole),
        ),
    )


FORGERIES = {
    "the excluded dish": serve_stew,
    "another slot than proposed": lambda one: (
        replace(one, slots=(*one.slots, SlotValue("diet", "meat"))),
    ),
    "two outcomes": lambda one: (one, one),
    "no outcome": lambda _: (),
    "another turn": lambda one: (replace(one, turn_id="other"),),
    "another seq": lambda one: (replace(one, seq=one.seq + 1),),
    "another contract": lambda one: (
        replace(one, certificate=replace(one.certificate, contract_digest=bytes(32))),
    ),
    "a verdict left out": lambda one: (
        replace(
            one,
            certificate=replace(
                one.certificate,
                candidates=tuple(replace(c, verdicts=()) for c in one.certificate.candidates),
            ),
        ),
    ),
    "no candidates": lambda one: (
        replace(one, certificate=replace(one.certificate, candidates=())),
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_commitment_is_found(name):
    """The auditor that finds nothing would find this."""
    told = tell_dinner()

    assert [] == audit_conversation(told).findings
    assert [] != forge(told, FORGERIES[name])


def test_a_leak_is_found():
    """A dish that only a rejected candidate named, in the text of an act."""
    told = tell_two("lasagne")

    assert isinstance(told.outcomes()[0], RepairAct)
    assert [] == audit_conversation(told).findings
    assert [] == forge(told, lambda one: (replace(one, text="How about the soup?"),), RepairAct)
    assert [] != forge(told, lambda one: (replace(one, text="How about Lasagne?"),), RepairAct)


def tell_two(dish):
    """Return a conversation in which a dish is not the one that was agreed on."""
    told = started()
    rule = predicate("dish", 'slots.dish == "soup"')
    told.tell(PredicateConfirmed(None, rule, ()), by=USER)
    told.tell(request(), event_id="turn")
    told.tell(candidates(meal(dish)), by=GENERATOR)
    return told


def test_a_withheld_candidate_is_found():
    """An act in place of a commitment against which nothing speaks."""
    told, other = tell_dinner(), tell_two("stew")
    (act,) = other.outcomes()

    def withhold(outcome):
        certificate = outcome.certificate
        changes = {name: getattr(outcome, name) for name in ("outcome_id", "turn_id", "seq")}
        return (replace(act, **changes, certificate=certificate),)

    assert any("withheld" in one for one in forge(told, withhold))
