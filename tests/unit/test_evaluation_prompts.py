"""Models as generators: the prompt holds what the variant shows, and answers are taken as read."""

import json

from infra.backends.port import Reply
from infra.evaluation.generation import generate_fixtures
from infra.evaluation.prompted import Prompted
from infra.evaluation.running import build_material
from infra.evaluation.variants import raw
from schemas.turn import FailureKind

FIXTURE, LABEL = next(generate_fixtures())
SHOWN = raw.VARIANT.show(build_material(FIXTURE, None))


class _Told:
    """A backend that says what it is told to, and keeps what it was asked."""

    kind, model, server_version = "told", "told-1", ""

    def __init__(self, *texts):
        self.texts = list(texts)
        self.calls = []

    def answer(self, call):
        """Say the next text."""
        self.calls.append(call)
        return Reply(text=self.texts.pop(0), finish_reason="stop")

    def close(self):
        """Hold nothing."""


def test_the_prompt_holds_the_lines_that_are_shown_and_no_label():
    """Each shown line is a unit of its text, or of its record; what the label expects is none."""
    backend = _Told("{}", "{}", "{}", "{}")
    Prompted(backend, candidates_max=1).answer(SHOWN, tokens_max=500)

    document = json.loads(backend.calls[0].messages[1].content)
    assert [line.text if line.offer is None else {"slot": "offer"} for line in SHOWN.lines] == [
        unit.get("text", {"slot": unit.get("slot")}) for unit in document["units"]
    ]
    assert not [unit for unit in document["units"] if "about" in unit]
    assert not {"contract", "needs"} & set(document)
    assert LABEL.case_id not in backend.calls[0].messages[1].content


def test_an_answer_is_a_candidate_and_its_offer_the_record_that_was_shown():
    """A well-formed answer becomes one candidate whose record equals the recorded offer."""
    offer = next(line.offer for line in SHOWN.lines if line.offer is not None)
    fields = {name: list(v) if isinstance(v, tuple) else v for name, v in offer.fields}
    text = json.dumps(
        {
            "commitment_type": SHOWN.scene,
            "slots": {"offer": fields, "party": 3},
            "evidence_ids": [],
            "claimed_predicates": [],
            "surface_text": "",
        }
    )

    answer = Prompted(_Told(text), candidates_max=1).answer(SHOWN, tokens_max=500)

    (candidate,) = answer.candidates
    assert offer == next(slot.value for slot in candidate.slots if slot.name == "offer")
    assert answer.failure is None


def test_an_answer_that_stays_broken_is_a_failure_after_three_retries():
    """Four broken answers are one failure of that kind, with every attempt kept."""
    answer = Prompted(_Told(*["no json"] * 4)).answer(SHOWN, tokens_max=500)

    assert (FailureKind.PARSE_FAILURE, (), 4) == (
        answer.failure,
        answer.candidates,
        len(answer.attempts),
    )
