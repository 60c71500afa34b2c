"""Amendments by a model: the packet shows what may be amended, the answer can name nothing else."""

import json
from dataclasses import replace

import pytest

from infra.appending import append_events
from infra.audit.explanation import explain_turn
from infra.audit.replay import replay
from infra.backends.port import Reply
from infra.cli.console import open_log
from infra.event_json import parse_event
from infra.generation.answer import read_answer
from infra.generation.generator import Generator
from infra.generation.pending import PendingTurns, list_outcomes
from infra.generation.prompt import build_prompt
from infra.generation.schema import build_schema, list_amendable
from infra.genesis import build_genesis
from processors.compilation.amendable import is_commitment
from processors.limits import AMENDABLE_MAX
from schemas.candidate import Amendment
from schemas.event import OutcomeObserved
from schemas.outcome import Commitment, RepairAct
from tests.amending import ask_again, cooking, elsewhere
from tests.conversation import GENERATOR, TOOL
from tests.kitchen import candidates, kitchen, meal
from tests.lcv import amendment


def decide(talk, proposed):
    """Answer the second turn and return its outcome."""
    (outcome,) = talk.tell(candidates(proposed, turn="again"), by=GENERATOR).outputs
    return outcome


def admits(schema, data):
    """Return whether data keeps a schema, as far as schemas of answers use the language."""
    if "anyOf" in schema:
        return any(admits(one, data) for one in schema["anyOf"])
    if schema["type"] == "object":
        known = schema["properties"]
        return (
            isinstance(data, dict)
            and set(schema["required"]) <= data.keys() <= known.keys()
            and len(data) >= schema.get("minProperties", 0)
            and all(admits(known[name], item) for name, item in data.items())
        )
    if schema["type"] == "array":
        return len(data) <= schema["maxItems"] and all(admits(schema["items"], x) for x in data)
    return data in schema.get("enum", [data])


def offered(packet):
    """Return (id, version) of every amendment that the schema of an answer admits."""
    schema = build_schema(packet, kitchen(), candidates_max=1)
    forms = [one["properties"] for one in schema.get("anyOf", [schema])]
    return [
        (form["amends"]["properties"]["commitment_id"]["enum"],
         form["amends"]["properties"]["version"]["enum"])
        for form in forms
        if "amends" in form
    ]  # fmt: skip


def test_the_schema_offers_exactly_the_live_commitments_of_the_packet():
    """Own and observed ones, each in its current version; a failed one may not be amended."""
    talk = cooking()
    (own,) = (one for one in talk.outputs if isinstance(one, Commitment))
    elsewhere(talk, "k2")
    talk.tell(OutcomeObserved("dinner", "k2", False, (), (), ()), by=TOOL)
    elsewhere(talk, "k1")
    elsewhere(talk, "k1")

    packet = ask_again(talk)

    shown = [("meal", Amendment(own.commitment_id, 1)), ("meal", Amendment("k1", 2))]
    assert shown == sorted(list_amendable(packet), key=lambda item: item[1].version)
    assert [([own.commitment_id], [1]), (["k1"], [2])] == sorted(
        offered(packet), key=lambda item: item[1]
    )


@pytest.mark.parametrize("ruleset", [1, 2])
def test_earlier_rulesets_show_no_commitment(ruleset):
    """What they decide keeps its bytes."""
    packet = ask_again(cooking(ruleset))

    assert () == list_amendable(packet)
    assert [] == offered(packet)
    assert "commitments" not in json.loads(build_prompt(packet, kitchen())[1].content)


def test_a_packet_shows_the_newest_of_many_and_none_beyond_its_budget():
    """At most sixteen, and the budget of evidence counts for them too."""
    talk = cooking()
    for number in range(AMENDABLE_MAX + 3):
        elsewhere(talk, f"k{number}")

    packet = ask_again(talk)
    talk.tell(candidates(meal(), turn="again"), by=GENERATOR)

    names = {amends.commitment_id for _, amends in list_amendable(packet)}
    assert {f"k{number}" for number in range(3, AMENDABLE_MAX + 3)} == names
    poor = cooking()
    assert () == list_amendable(ask_again(poor, budget_main=3, budget_tail=0))


def test_the_prompt_shows_commitments_apart_from_the_evidence():
    """Id, version, type and slots stand there, and no unit to cite."""
    talk = cooking()
    elsewhere(talk, "k1")

    packet = ask_again(talk)

    rules, document = (one.content for one in build_prompt(packet, kitchen()))
    said = json.loads(document)
    assert {
        "commitment_id": "k1", "commitment_type": "meal", "version": 1, "slots": {"dish": "stew"}
    } in said["commitments"]  # fmt: skip
    assert 2 == len(said["commitments"])
    assert not [unit for unit in said["units"] if unit["id"].endswith("#c")]
    assert "amends" in rules


def test_a_commitment_that_is_shown_covers_and_grounds_nothing():
    """Coverage is that of a packet without it, and no reference names its own digest."""
    with_it, without = ask_again(cooking(3)), ask_again(cooking(2))
    outcome = decide(cooking_asked(), meal())

    assert without.coverage == with_it.coverage
    assert [one for one in with_it.units if not is_commitment(one)] == list(without.units)
    digests = {one.digest for one in outcome.certificate.rests_on}
    assert not digests & {one.event_digest for one in with_it.units if is_commitment(one)}


def cooking_asked():
    """Return a conversation whose second turn waits."""
    talk = cooking()
    ask_again(talk)
    return talk


def test_an_amendment_that_a_schema_admits_becomes_the_next_version():
    """The text that the schema validates is read, judged and committed under the old id."""
    talk = cooking()
    elsewhere(talk, "k1")
    packet = ask_again(talk)
    data = {
        "commitment_type": "meal",
        "amends": {"commitment_id": "k1", "version": 1},
        "patch": {"dish": "soup"},
        "evidence_ids": [],
    }
    assert admits(build_schema(packet, kitchen(), candidates_max=1), data)

    (proposed,) = read_answer(json.dumps(data), "stop", kitchen()).candidates
    outcome = decide(talk, proposed)

    assert isinstance(outcome, Commitment)
    assert ("k1", 2) == (outcome.commitment_id, outcome.version)
    assert ["soup"] == [slot.value for slot in outcome.slots]


@pytest.mark.parametrize(
    ("name", "version", "reason"),
    [("k9", 1, "unknown_commitment:k9"), ("k1", 7, "stale_version:k1")],
)
def test_an_invented_commitment_is_in_no_schema_and_is_refused(name, version, reason):
    """The grammar cannot say it, and whoever says it nevertheless is unsupported."""
    talk = cooking()
    elsewhere(talk, "k1")
    packet = ask_again(talk)
    data = {
        "commitment_type": "meal",
        "amends": {"commitment_id": name, "version": version},
        "patch": {"dish": "soup"},
        "evidence_ids": [],
    }
    outcome = decide(talk, amendment(name, version, dish="soup"))

    assert not admits(build_schema(packet, kitchen(), candidates_max=1), data)
    assert isinstance(outcome, RepairAct)
    (report,) = outcome.certificate.candidates
    assert (reason,) == report.unsupported


def test_a_commitment_amended_meanwhile_is_stale():
    """Between packet and answer another version came: what the packet showed counts no more."""
    talk = cooking()
    elsewhere(talk, "k1")
    ask_again(talk)
    elsewhere(talk, "k1", "pie")

    outcome = decide(talk, amendment("k1", 1, dish="soup"))

    (report,) = outcome.certificate.candidates
    assert ("stale_version:k1",) == report.unsupported


class Amending:
    """A backend that changes the first commitment that it is shown, else makes one."""

    kind, model, server_version = "scripted", "none", "1"

    def answer(self, call):
        """Read the prompt as a model does."""
        said = json.loads(call.messages[1].content)
        data = {"commitment_type": "meal", "evidence_ids": []}
        if found := said.get("commitments"):
            named = {key: found[0][key] for key in ("commitment_id", "version")}
            data |= {"amends": named, "patch": {"dish": "stew"}}
        else:
            data["slots"] = {"dish": "soup"}
        return Reply(text=json.dumps(data), finish_reason="stop", latency_ms=5)

    def close(self):
        """Hold nothing."""


def test_a_model_amends_on_an_embedded_log_and_all_replays(tmp_path):
    """Genesis, ruleset, two turns: version 1, then version 2 of the same; nothing diverges."""
    lines = [
        {"type": "RulesetActivated", "ruleset": 3},
        {"type": "FormSubmitted", "statements": [{"slot": "dish", "value": "soup"}]},
        {"type": "TurnRequested", "scene": "dinner"},
        {"type": "TurnRequested", "scene": "dinner", "text": "stew instead"},
    ]
    events = [build_genesis(replace(kitchen(), name="k"), operators=("ops",))]
    for number, payload in enumerate(lines):
        control = payload["type"] == "RulesetActivated"
        who = {"kind": "operator", "id": "ops"} if control else {"kind": "user", "id": "ada"}
        event = {
            "event_id": f"e{number}", "at": f"2026-03-01T18:{number:02}:00Z", "principal": who,
            "user": "" if control else "ada", "payload": payload,
        }  # fmt: skip
        events.append(parse_event(json.dumps(event)))
    with open_log(tmp_path / "log", must_exist=False) as embedded:
        append_events(embedded, events[:-1])
        turns = PendingTurns(embedded, Generator(Amending()))
        list(turns.answer())
        append_events(embedded, events[-1:])
        list(turns.answer())
        first, second = (record for _, record in list_outcomes(embedded))
        report = replay(embedded, lambda _done, _left: None)
        told = list(explain_turn(embedded, "e3", "ada"))

    assert (1, 2) == (first.version, second.version)
    assert first.commitment_id == second.commitment_id
    assert Amendment(first.commitment_id, 1) == second.amends
    assert report.clean
    assert told
