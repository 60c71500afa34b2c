"""The answer grammar under fire: mutated outputs of models, read or refused, never invented.

``ANSWERS=100000`` makes the run as long as it should be before a release.
"""

import json
import os
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from infra.generation.answer import Answer, Broken, read_answer
from schemas.codec import decode, encode
from schemas.event import CandidatesProposed
from schemas.outcome import Commitment, RepairAct
from schemas.turn import FailureKind
from tests.answer_mutations import CATALOGUE, bare, build_text, mutate, restate
from tests.lcv import decided, over
from tests.situations import predicate, scene, unit

COUNT = int(os.environ.get("ANSWERS", "3000"))
KINDS = frozenset(
    {
        FailureKind.PARSE_FAILURE,
        FailureKind.BLANK_OUTPUT,
        FailureKind.PARTIAL_OUTPUT,
        FailureKind.NO_OUTPUT,
    }
)
OPTIONAL = ("claimed_predicates", "required_slots", "repair_status", "surface_text")


def read(text):
    """Return what the grammar makes of a text that its backend calls whole."""
    return read_answer(text, "stop", CATALOGUE)


def spoken(text):
    """Return every JSON object that stands anywhere in a text, read by the plain decoder."""
    found = []
    for start, character in enumerate(text):
        if character == "{":
            try:
                found.append(json.JSONDecoder().raw_decode(text, start)[0])
            except (ValueError, RecursionError):
                continue
    return found


def normal(data):
    """Return a candidate's JSON with sets in order and empty optional parts left out."""
    kept = {name: item for name, item in data.items() if name not in OPTIONAL or item}
    slots = kept.get("slots")
    if isinstance(slots, dict) and isinstance(slots.get("set"), list):
        kept["slots"] = slots | {"set": sorted(slots["set"])}
    return bare(kept)


def test_good_answers_are_read_whole():
    """Every slot type in its one form comes out as it went in, with prose around it or not."""
    rng = random.Random(1)
    for _ in range(300):
        text = build_text(rng)
        answer = read(text)

        assert isinstance(answer, Answer), (answer, text)
        said = [normal(restate(candidate)) for candidate in answer.candidates]
        (whole,) = [one for one in spoken(text) if {"slots", "patch", "candidates"} & one.keys()][
            :1
        ]
        assert [normal(one) for one in whole.get("candidates", [whole])] == said


def test_no_mutation_crashes_or_invents_a_field():
    """Whatever is done to an output, it is broken in a named way or says all that is read."""
    rng = random.Random(int(os.environ.get("SEED", "7")))
    kinds = dict.fromkeys((*KINDS, "answer"), 0)
    for number in range(COUNT):
        text = mutate(build_text(rng), rng)
        answer = read(text)

        if isinstance(answer, Broken):
            assert answer.kind in KINDS
            assert answer.detail
            kinds[answer.kind] += 1
            continue
        kinds["answer"] += 1
        objects = spoken(text)
        lists = [one["candidates"] for one in objects if isinstance(one.get("candidates"), list)]
        parts = [part for listed in lists for part in listed]
        listed = [normal(one) for one in (*objects, *parts) if isinstance(one, dict)]
        for candidate in answer.candidates:
            assert normal(restate(candidate)) in listed, (number, text)
        proposed = CandidatesProposed("t", None, answer.candidates, None, None, ())
        assert proposed == decode(CandidatesProposed, encode(proposed))
    assert kinds["answer"] > COUNT // 50
    assert kinds[FailureKind.PARSE_FAILURE] > COUNT // 4


def test_no_mutated_output_becomes_a_commitment_against_the_contract():
    """What is read of a mutated output is committed only where the confirmed rule holds."""
    told = over(
        predicate("P1", "slots.bool == false"),
        predicate("P2", "slots.int < 0"),
        types=CATALOGUE.types,
        in_scene=scene(commitment_types=("order",)),
        units=(unit("1#0"), unit("2#0"), unit("3#1")),
    )
    rng = random.Random(int(os.environ.get("SEED", "7")))
    commitments = 0
    for _ in range(COUNT // 5):
        answer = read(mutate(build_text(rng, sure=("bool", "int")), rng))
        if isinstance(answer, Broken):
            continue
        outcome = decided(told, *answer.candidates)
        if isinstance(outcome, Commitment):
            commitments += 1
            carried = {slot.name: slot.value for slot in outcome.slots}
            assert carried["bool"] is False
            assert carried["int"] < 0
        else:
            assert isinstance(outcome, RepairAct)
    assert commitments


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80), st.sampled_from(["stop", "length", None, "content_filter", "x"]))
def test_any_text_is_an_answer_or_a_named_failure(text, reason):
    """The grammar is total: it raises nothing, whatever text and finish reason."""
    assert isinstance(read_answer(text, reason, CATALOGUE), Answer | Broken)


def test_hostile_sizes_end_quickly():
    """Deep, long and endless outputs are refused without following them."""
    for text in (
        '{"a":' * 20_000,
        "[" * 60_000,
        '{"a":"</think>' * 4_000,
        '{"a":' * 900 + "[" + "1," * 20_000,
        "{x} " * 15_000,
        '{"a":' + "9" * 5_000 + "}",
        "x" * 1_000_000,
    ):
        broken = read(text)

        assert isinstance(broken, Broken)
        assert FailureKind.PARSE_FAILURE is broken.kind
