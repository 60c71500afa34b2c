"""Generation on an embedded log: prompts from packets, answers as events, phrasings, replay."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from infra.appending import append_events
from infra.audit.replay import replay
from infra.backends.port import BackendError, Reply
from infra.backends.recorded import RecordedBackend, Recorder
from infra.backends.simulated import SimulatedBackend
from infra.cli.commands import app
from infra.cli.console import open_log
from infra.event_json import parse_event
from infra.generation.generator import Generator
from infra.generation.pending import PendingTurns, list_outcomes
from infra.generation.phrasing import Policy, phrase_all
from infra.generation.prompt import build_prompt, count_payload, count_tokens, quote
from infra.generation.schema import build_schema
from infra.genesis import build_genesis
from infra.records import read_output
from schemas.catalogue import SlotType, TextTemplate
from schemas.event import CandidatesProposed, PredicateConfirmed, SurfaceProposed
from tests.answer_mutations import CATALOGUE as EVERY_TYPE
from tests.kitchen import asked, form, kitchen, packet_of, started
from tests.situations import predicate

MEAL = '{"commitment_type":"meal","slots":{"dish":"soup"},"evidence_ids":[]}'
WORDS = (TextTemplate("meal", "en", "We serve {dish}."),)


class Scripted:
    """A backend that gives these texts in order and keeps what it was asked."""

    kind, model, server_version = "scripted", "none", "1"

    def __init__(self, *texts):
        self.texts = list(texts)
        self.calls = []

    def answer(self, call):
        self.calls.append(call)
        if not self.texts:
            raise BackendError("nothing left to say", again=False)
        return Reply(text=self.texts.pop(0), finish_reason="stop", latency_ms=5)

    def close(self):
        """Hold nothing."""


def told(number, payload, user="ada"):
    """Return an event of a user as its JSON line."""
    return parse_event(
        json.dumps(
            {
                "event_id": f"{user}-{number}",
                "user": user,
                "at": f"2026-03-01T18:{number:02}:00+01:00",
                "payload": payload,
            }
        )
    )


def history(user="ada", turns=1):
    """Return what a user stated, and requests for turns."""
    stated = {"type": "FormSubmitted", "statements": [{"slot": "dish", "value": "soup"}]}
    asking = {"type": "TurnRequested", "scene": "dinner", "text": "soup, please"}
    return [told(1, stated, user), *(told(n + 2, asking, user) for n in range(turns))]


@pytest.fixture
def embedded(tmp_path):
    """Yield a log that begins with the kitchen's catalogue."""
    with open_log(tmp_path / "log", must_exist=False) as log:
        append_events(log, [build_genesis(replace(kitchen(), templates=WORDS))])
        yield log


def outcomes(log):
    """Return (topic, turn id) of every outcome."""
    return [(topic, record.turn_id) for topic, record in list_outcomes(log)]


def packet_with(**changes):
    """Return the packet of a turn in the kitchen."""
    conversation = started()
    conversation.tell(form(dish="soup"))
    return packet_of(asked(conversation, **changes))


def test_every_pending_packet_is_answered_once(embedded):
    """Each gets one answer for its digest, each turn one outcome; a second run finds nothing."""
    append_events(embedded, [*history("ada", 2), *history("bob")])
    backend = Scripted(MEAL, "no JSON", MEAL, MEAL)
    turns = PendingTurns(embedded, Generator(backend))

    answers = list(turns.answer())

    assert ["ada-2", "ada-3", "bob-2"] == sorted(one.packet.turn_id for one in answers)
    assert not any(one.failed for one in answers)
    assert 3 == len(set(outcomes(embedded))) == len(outcomes(embedded))
    assert [] == list(PendingTurns(embedded, Generator(backend)).answer())


def test_a_backend_that_gives_nothing_ends_the_turn_as_failure(embedded):
    """The failure is an outcome like others; nothing stays pending."""
    append_events(embedded, history())

    (answered,) = PendingTurns(embedded, Generator(Scripted())).answer()

    assert answered.failed
    assert [("failures", "ada-2")] == outcomes(embedded)


def test_an_answer_sent_twice_is_a_duplicate(embedded):
    """The id is a digest of turn, packet and body: a resend changes nothing."""
    append_events(embedded, history())
    (answered,) = PendingTurns(embedded, Generator(Scripted(MEAL))).answer()
    before = outcomes(embedded)

    append_events(embedded, [answered.event, answered.event])
    embedded.fold_pending()

    assert before == outcomes(embedded) == [("commitments", "ada-2")]
    assert not list(embedded.outputs("rejections"))


def test_a_log_replays_without_the_model_and_from_the_recording(embedded, tmp_path):
    """Replay gives the same bytes; a second log answered from the recording says the same."""
    append_events(embedded, [*history("ada", 3), *history("bob", 3)])
    path = tmp_path / "replies.jsonl"
    recorder = Recorder(SimulatedBackend(5, broken_percent=50), path)
    list(PendingTurns(embedded, Generator(recorder)).answer())
    recorder.close()

    report = replay(embedded, lambda _done, _left: None)
    with open_log(tmp_path / "other", must_exist=False) as other:
        append_events(other, [build_genesis(replace(kitchen(), templates=WORDS))])
        append_events(other, [*history("ada", 3), *history("bob", 3)])
        list(PendingTurns(other, Generator(RecordedBackend(path))).answer())
        again = outcomes(other)

    assert (0, 0, 0) == (report.missing, report.duplicate, report.divergent)
    assert sorted(outcomes(embedded)) == sorted(again)
    assert 6 == len(again)


def test_the_prompt_holds_the_packet_and_no_history(embedded):
    """What Z* left out and what others said is in no message; tokens of both are counted."""
    said = {"type": "UtteranceObserved", "text": "long ago I said broccoli " * 300}
    append_events(embedded, [told(0, said), *history("ada"), *history("bob")])
    backend = Scripted(MEAL, MEAL)

    answers = list(PendingTurns(embedded, Generator(backend)).answer())

    shown = [call.messages[1].content for call in backend.calls]
    assert not [text for text in shown if "broccoli" in text]
    ada = next(one for one in answers if one.packet.user == "ada")
    assert ada.packet_tokens < 100
    assert ada.history_tokens > 1_000
    assert ada.saving_percent > 90


def test_a_prompt_shows_contract_units_and_needs():
    """Z*, R_t, the contract view and the scene are there, values without tags."""
    conversation = started()
    conversation.tell(form(dish="soup", diet="vegan"))
    packet = packet_of(
        asked(conversation, text="what now", participants=("eve",), wanted_dimensions=("diet",))
    )
    data = json.loads(build_prompt(packet, kitchen())[1].content)

    assert ("dinner", "what now", ["eve"]) == (
        data["scene"],
        data["request"],
        data["participants"],
    )
    assert ["meal"] == [kind["commitment_type"] for kind in data["types"]]
    assert {("diet", "vegan"), ("dish", "soup")} == {
        (unit["slot"], unit["value"]) for unit in data["units"]
    }
    assert count_payload(packet) < count_tokens(build_prompt(packet, kitchen())[1].content)


def test_quoted_text_keeps_its_meaning_and_loses_its_power():
    """JSON reads back the same text; control tokens and unseen characters are escapes in it."""
    text = "a</s><|im_end|>[INST]\u202e\x00\u200b\nö 日本 [1]"

    quoted = quote({"text": text})

    assert {"text": text} == json.loads(quoted)
    assert not [one for one in ("<", ">", "[INST]", "\u202e", "\u200b") if one in quoted]
    assert "ö 日本 [1]" in quoted


def test_the_schema_names_types_slots_and_activated_ids():
    """Each slot type has its form; references are the packet's; only rules demand a slot."""
    packet = replace(packet_with(), commitment_types=("order",))

    schema = build_schema(packet, EVERY_TYPE, candidates_max=1)
    many = build_schema(packet, EVERY_TYPE, candidates_max=3)

    slots = schema["properties"]["slots"]
    assert {kind.value for kind in SlotType} - {"unknown"} == set(slots["properties"])
    assert [] == slots["required"]
    assert [unit.unit_id for unit in packet.units] == schema["properties"]["evidence_ids"]["items"][
        "enum"
    ]
    assert schema == many["properties"]["candidates"]["items"]


def test_what_rules_fix_is_shown_and_asked_for():
    """The schema demands the slots that the contract fixes, and the prompt says their values."""
    conversation = started()
    conversation.tell(form(dish="soup", diet="vegan"))
    rule = predicate("vegan", 'slots.diet == "vegan"')
    other = predicate("elsewhere", 'slots.dish == "tart"', scenes=("picnic",))
    for confirmed in (rule, other):
        conversation.tell(PredicateConfirmed(None, confirmed, ()))
    packet = packet_of(asked(conversation))

    schema = build_schema(packet, kitchen(), candidates_max=1)
    data = json.loads(build_prompt(packet, kitchen())[1].content)

    assert ["diet"] == schema["properties"]["slots"]["required"]
    assert {"diet": "vegan"} == data["confirmed"]


@pytest.mark.parametrize(
    ("policy", "texts", "said", "accepted"),
    [
        (Policy.RECORD, ["We serve soup."], "We serve soup.", True),
        (Policy.RECORD, ["Soup at 9 for 20 EUR."], "Soup at 9 for 20 EUR.", False),
        (Policy.REGENERATE, ["Soup at 9.", "We serve soup."], "We serve soup.", True),
        (Policy.REGENERATE, ["Soup at 9.", "Soup at 8."], "Soup at 8.", False),
        (Policy.TEMPLATE, ["Soup, free for life."], "We serve soup.", True),
        (Policy.TEMPLATE, [], "We serve soup.", True),
        (Policy.RECORD, [], None, None),
        (Policy.RECORD, ["<think>9</think>We serve soup."], "We serve soup.", True),
    ],
)
def test_a_phrasing_is_recorded_made_again_or_the_template(embedded, policy, texts, said, accepted):
    """The policy decides what is proposed; the core's check decides what is accepted."""
    append_events(embedded, history())
    generator = Generator(Scripted(MEAL, *texts))
    turns = PendingTurns(embedded, generator)
    list(turns.answer())
    before = list(embedded.outputs("commitments"))

    list(phrase_all(embedded, generator, turns, policy))

    surfaces = [
        read_output("surfaces", output.record.value) for output in embedded.outputs("surfaces")
    ]
    assert ([] if said is None else [(said, accepted)]) == [
        (one.text, one.accepted) for one in surfaces
    ]
    assert before == list(embedded.outputs("commitments"))
    if said is not None:
        assert [] == list(phrase_all(embedded, generator, turns, policy))


def test_the_events_of_a_generator_are_of_its_kind():
    """Candidates answer the packet's digest; no event of a generator can confirm."""
    packet = packet_with()

    event = Generator(Scripted(MEAL)).answer(packet, kitchen())

    assert isinstance(event.payload, CandidatesProposed)
    assert ("generator", "scripted") == (event.principal.kind.value, event.principal.id)
    assert event.occurred_at_ms == packet.as_of_ms + 5
    assert predicate() not in (event.payload.candidates, SurfaceProposed("t", "", None))


def test_generate_and_turn_answer_from_the_command_line(tmp_path):
    """generate answers what waits; turn --backend asks at once; both use one recording."""
    folder, path = tmp_path / "log", tmp_path / "replies.jsonl"
    with open_log(folder, must_exist=False) as log:
        append_events(log, [build_genesis(kitchen()), *history()])
    run = CliRunner().invoke
    common = ["--log", str(folder), "--json"]

    first = run(app, ["generate", *common, "--backend", "simulated:3", "--record", str(path)])
    asking = ["turn", *common, "--user", "ada", "--scene", "dinner"]
    second = run(app, [*asking, "--backend", "simulated:3"])
    wrong = run(app, ["generate", *common, "--backend", "nothing"])

    assert (0, 0, 2) == (first.exit_code, second.exit_code, wrong.exit_code)
    answer, total = (json.loads(line) for line in first.stdout.splitlines())
    assert (1, "ada-2") == (total["total"]["packets"], answer["turn"])
    assert path.read_text()
    assert json.loads(second.stdout)["topic"] in {"commitments", "repairs", "failures"}
