"""Injection: whatever a text says, it confirms nothing, adds no slot, and leaks nowhere.

More than two hundred hostile texts (``tests.hostile_texts``) go in as utterances, documents, tool
results and requests, and come out of models as whole answers and as parts of good ones.
"""

import json
import unicodedata

import pytest

from infra.event_json import render_record
from infra.generation.answer import Answer, read_answer
from infra.generation.prompt import build_prompt
from schemas.candidate import SlotValue
from schemas.event import (
    CandidatesProposed,
    EvidenceRecorded,
    GenerationFailed,
    PredicateConfirmed,
    Principal,
    PrincipalKind,
    Sensitivity,
    UnitDraft,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.row import PredicateRow, SlotRow
from tests.conversation import GENERATOR, TOOL
from tests.hostile_texts import BASE, HOSTILE, disguise
from tests.kitchen import asked, form, kitchen, packet_of, started
from tests.situations import predicate

ASSISTANT = Principal(PrincipalKind.ASSISTANT, "bot")
SECRETS = ("steak", "xyzzyplugh", "mallory", "hidden", "admin-override")


def seated():
    """Return a conversation with a vegan rule, a dish and a diet."""
    conversation = started()
    conversation.tell(form(dish="soup", diet="vegan"))
    conversation.tell(
        PredicateConfirmed(None, predicate("vegan", 'slots.diet == "vegan"'), ()),
    )
    return conversation


def held(conversation):
    """Return the contract and state of the user, as rows."""
    view = conversation.view()
    return view.scan(PredicateRow), view.scan(SlotRow)


def document(text):
    """Return a tool's result or a document with this content."""
    draft = UnitDraft(
        text, "doc-1", None, None, ("note",), False, Sensitivity.NONE, (), 10, None, None
    )
    return EvidenceRecorded((draft,))


def hear(conversation, text):
    """Tell a text through every channel that carries free text."""
    told = [
        (UtteranceObserved(text, UtteranceOrigin.SAID, "en", ()), None),
        (UtteranceObserved(text, UtteranceOrigin.DOCUMENT, None, ()), None),
        (UtteranceObserved(text, UtteranceOrigin.SAID, "en", ()), ASSISTANT),
        (UtteranceObserved(text, UtteranceOrigin.RECALLED, "en", ()), TOOL),
        (document(text), TOOL),
    ]
    for payload, by in told:
        conversation.tell(payload, **({} if by is None else {"by": by}))


def answer(conversation, packet, text):
    """Tell what a model's output amounts to, as the generator would, and return the outcome."""
    read = read_answer(text, "stop", kitchen())
    if isinstance(read, Answer):
        payload = CandidatesProposed("turn", None, read.candidates, None, None, ())
    else:
        payload = GenerationFailed("turn", None, read.kind, None, None, ())
    conversation.tell(payload, by=GENERATOR)
    (outcome,) = conversation.outcomes("turn")
    assert packet.turn_id == outcome.turn_id
    return outcome


def check_outcome(outcome, text):
    """Assert that an outcome carries the confirmed values or none, and no secret."""
    if isinstance(outcome, Commitment):
        assert SlotValue("diet", "vegan") in outcome.slots
        assert not [secret for secret in SECRETS if secret in outcome.text.casefold()]
        assert {"diet", "dish"} >= {slot.name for slot in outcome.slots}
        return
    if isinstance(outcome, RepairAct):
        said = render_record(outcome)
        said.pop("certificate")
        shown = json.dumps(said, ensure_ascii=False)
        assert text not in shown
        assert not [secret for secret in SECRETS if secret in shown.casefold()]
        return
    assert isinstance(outcome, TurnFailure)


@pytest.mark.parametrize("text", BASE, ids=range(len(BASE)))
def test_no_text_changes_contract_or_state(text):
    """Told on every channel in every disguise, a text leaves contract and slots as they were."""
    for told in disguise(text):
        conversation = seated()
        before = held(conversation)
        hear(conversation, told)
        packet = packet_of(asked(conversation, text=told))

        assert before == held(conversation)
        assert ["vegan"] == [view.predicate.predicate_id for view in packet.contract]
        check_prompt(packet, told)


def check_prompt(packet, told):
    """Assert that a prompt quotes a text whole, and that nothing of it can end the quotation."""
    system, user = build_prompt(packet, kitchen())
    data = json.loads(user.content)

    assert told == data["request"]
    assert {"vegan"} == {rule["id"] for rule in data["contract"]}
    assert {unit.content for unit in packet.units if unit.content == told} == {
        unit["text"] for unit in data["units"] if unit.get("text") == told
    }
    assert told not in system.content
    assert not {"<", ">", "\n"} & set(user.content)
    assert "[INST]" not in user.content
    unseen = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
    assert not [one for one in user.content if unicodedata.category(one) in unseen]


@pytest.mark.parametrize("text", BASE, ids=range(len(BASE)))
def test_no_output_of_a_model_gains_a_say(text):
    """As a whole answer or a part of a good one, a text ends in no value that was not confirmed."""
    for number, told in enumerate(disguise(text)):
        made = list(outputs(told))
        for output in made if number == 0 else (made[number], made[number - 1]):
            conversation = seated()
            packet = packet_of(asked(conversation))
            before = held(conversation)[0]

            outcome = answer(conversation, packet, output)

            check_outcome(outcome, told)
            assert before == held(conversation)[0]


def outputs(text):
    """Yield model outputs that carry a text in each place that can carry one."""
    good = {"commitment_type": "meal", "slots": {"dish": "soup", "diet": "vegan"}}
    yield text
    yield json.dumps(good | {"evidence_ids": [text]})
    yield json.dumps(good | {"slots": {"dish": "soup", "diet": text}, "evidence_ids": []})
    yield json.dumps(good | {"slots": good["slots"] | {text: text}, "evidence_ids": []})
    yield json.dumps(
        good | {"evidence_ids": [], "surface_text": text, "claimed_predicates": [text]}
    )
    yield json.dumps(good | {"evidence_ids": [], "repair_status": text, "commitment_type": text})


def test_the_texts_are_many_and_all_different():
    """Two hundred texts and more, in their disguises."""
    assert len(set(HOSTILE)) == len(HOSTILE) > 200
