"""Public fault reports of structured output as tests of the answer grammar (spec 5.12).

Each test names its report; the inputs are those of the report in the forms of this system.
"""

import json

import pytest

from infra.generation.answer import Answer, Broken, read_answer
from schemas.candidate import Attempt
from schemas.catalogue import Catalogue, SlotType
from schemas.outcome import Act, Reason, RepairAct, TurnFailure
from schemas.turn import FailureKind, GenerationFailed
from tests.conversation import GENERATOR
from tests.kitchen import asked, form, packet_of, started
from tests.lcv import decided, judge, over, typed, violated
from tests.situations import predicate, scene, slot, unit


def acts(*slots, name="reply"):
    """Return a catalogue of one type that declares these slots."""
    return Catalogue("acts", (), (typed(name, *slots),), (), ())


BODY = acts(slot("body"))


def read(text, reason="stop", catalogue=BODY):
    """Return what the grammar makes of a text."""
    return read_answer(text, reason, catalogue)


def only(answer):
    """Return the one candidate of an answer and its slots by name."""
    assert isinstance(answer, Answer), answer
    (candidate,) = answer.candidates
    return candidate, {slot.name: slot.value for slot in candidate.slots}


def kind_of(answer):
    """Return how an answer is broken."""
    assert isinstance(answer, Broken), answer
    return answer.kind


def reply(slots, **more):
    """Return an answer's text with these slots."""
    return json.dumps({"commitment_type": "reply", "slots": slots, "evidence_ids": []} | more)


def test_a_cut_stream_takes_no_defaults():
    """R28: an answer that ends at its token limit is partial output, whatever it holds so far."""
    cut = '{"commitment_type":"transfer","slots":{"amount":"250.00","currency":"EUR"'

    assert FailureKind.PARTIAL_OUTPUT == kind_of(read(cut, "length"))
    assert FailureKind.PARTIAL_OUTPUT == kind_of(read(reply({}), "length"))
    assert FailureKind.PARSE_FAILURE == kind_of(read(cut))
    assert not read(cut, "length").final


def test_partial_output_is_a_failure_with_its_attempts_and_no_abstention():
    """R28: it ends the turn as TurnFailure, which is counted, never as a repair act."""
    conversation = started()
    conversation.tell(form(dish="soup"))
    asked(conversation)
    attempts = (Attempt("partial_output", "cut", 12, 2_200),) * 4
    failed = GenerationFailed("turn", None, FailureKind.PARTIAL_OUTPUT, "{", None, attempts)

    conversation.tell(failed, by=GENERATOR)

    (outcome,) = conversation.outcomes("turn")
    assert isinstance(outcome, TurnFailure)
    assert (FailureKind.PARTIAL_OUTPUT, 4) == (outcome.kind, len(outcome.attempts))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("```json\n" + reply({"body": "Use:\n```sh\nls\n```\ndone"}) + "\n```",
         "Use:\n```sh\nls\n```\ndone"),
        ("As `agreed` earlier: " + reply({"body": "run `ls`"}), "run `ls`"),
        (reply({"body": "a ```b``` c"}), "a ```b``` c"),
    ],
)  # fmt: skip
def test_fences_and_backticks_neither_cut_nor_change_a_value(text, body):
    """R29: a value is byte for byte the string in the JSON."""
    assert {"body": body} == only(read(text))[1]


def test_thinking_is_dropped_with_its_decoys():
    """R31: only what stands behind the last closing tag is the answer; a literal tag is text."""
    decoy = '{"commitment_type":"call","slots":{},"evidence_ids":[]}'
    email = '{"commitment_type":"email","slots":{},"evidence_ids":["e1"]}'
    literal = '{"commitment_type":"email","slots":{"body":"the tag <think> is literal"},'
    closing = '{"commitment_type":"email","slots":{"body":"so </think> said"},'
    rest = '"evidence_ids":["e1"]}'

    read_a, _ = only(read(f"<think>maybe {decoy} - no, forbidden</think>\n{email}"))
    read_c, _ = only(read(f'reasoning without an opening tag {{"a":1}}</think>{email}'))

    assert ["email", "email"] == [read_a.commitment_type, read_c.commitment_type]
    assert FailureKind.PARSE_FAILURE == kind_of(read(f"<think>{decoy}"))
    assert {"body": "the tag <think> is literal"} == only(read(literal + rest))[1]
    assert {"body": "so </think> said"} == only(read(closing + rest))[1]


def test_of_two_objects_none_is_picked_and_braces_in_prose_are_none():
    """R32: a second object is a failure; a word in braces is prose."""
    email = '{"commitment_type":"email","slots":{},"evidence_ids":["e1"]}'
    call = email.replace("email", "call")

    broken = read(email + call)

    assert FailureKind.PARSE_FAILURE == kind_of(broken)
    assert "second" in broken.detail
    assert "email" == only(read("Under {policy} I propose " + email))[0].commitment_type
    assert FailureKind.PARSE_FAILURE == kind_of(read(f"[{email}]"))
    assert FailureKind.PARSE_FAILURE == kind_of(read('{"candidates":[' + email))


@pytest.mark.parametrize("value", [False, True])
def test_a_truth_value_is_read_as_it_is(value):
    """R34: true and false are the two values of a truth slot."""
    catalogue = acts(slot("contains_peanut", slot_type=SlotType.BOOL, optional=False))
    candidate, _ = only(read(reply({"contains_peanut": value}), catalogue=catalogue))
    told = over(
        predicate("P1", "slots.contains_peanut == false"),
        types=catalogue.types,
        in_scene=scene(commitment_types=("reply",)),
    )

    (report,) = judge(told, candidate)

    assert (not value) == (violated(report) == [])


@pytest.mark.parametrize("value", ["false", "False", "no", "0", 0, "", None])
def test_nothing_becomes_a_truth_value(value):
    """R34: text, number and null in a truth slot are a type error, which may be asked again."""
    catalogue = acts(slot("contains_peanut", slot_type=SlotType.BOOL, optional=False))

    broken = read(reply({"contains_peanut": value}), catalogue=catalogue)

    assert FailureKind.PARSE_FAILURE == kind_of(broken)
    assert "slots.contains_peanut" in broken.detail
    assert not broken.final


def test_a_doubled_name_is_found_at_any_depth():
    """R35: of two equal keys neither is taken."""
    doubled = (
        '{"commitment_type":"order","slots":{"dish":"noodles","allergens":["peanut"],'
        '"allergens":[]},"evidence_ids":["e1"]}'
    )
    deep = doubled.replace('"allergens":["peanut"],"allergens":[]', '"a":[{"b":{"c":1,"c":2}}]')

    assert (FailureKind.PARSE_FAILURE, "duplicate_key slots.allergens") == (
        read(doubled).kind,
        read(doubled).detail,
    )
    assert "duplicate_key slots.a[0].b.c" == read(deep).detail


@pytest.mark.parametrize("said", ["{}", '{"ok":"yes"}', '{"ok":true}'])
def test_a_verdict_in_an_answer_is_no_candidate(said):
    """R37: what a checking service might say is never taken for an answer of the generator."""
    assert FailureKind.PARSE_FAILURE == kind_of(read(said))


def test_an_answer_that_stays_wrong_is_never_made_null():
    """R38: a wrong choice stays what it was, twice, and the turn ends in Abstain."""
    catalogue = acts(slot("venue", optional=False))
    first, _ = only(read(reply({"venue": "Hall Z"}), catalogue=catalogue))
    again, carried = only(
        read(reply({"venue": "Hall Z"}, surface_text="again"), catalogue=catalogue)
    )
    told = over(
        predicate("P1", 'slots.venue in ["Hall A", "Hall B"]'),
        types=catalogue.types,
        in_scene=scene(commitment_types=("reply",)),
    )

    outcome = decided(told, first, again)

    assert {"venue": "Hall Z"} == carried
    assert isinstance(outcome, RepairAct)
    assert (Act.ABSTAIN, Reason.UNSUPPORTED) == (outcome.act, outcome.reason)
    assert [1, 1] == [report.violations for report in outcome.certificate.candidates]
    assert FailureKind.PARSE_FAILURE == kind_of(read(reply({"venue": None}), catalogue=catalogue))


def test_references_are_kept_as_they_stand():
    """R40: an invented reference is neither dropped nor mended; the support check names it."""
    catalogue = acts()
    texts = [reply({}, evidence_ids=cited) for cited in (["2#0", "99#0"], ["1#0"], ["[1]"])]
    candidates = [only(read(text, catalogue=catalogue))[0] for text in texts]
    told = over(
        types=catalogue.types,
        in_scene=scene(commitment_types=("reply",), required_dimensions=("r1",)),
        units=(unit("1#0", ("r1",)), unit("2#0")),
    )

    reports = judge(told, *candidates)

    assert [("unknown_evidence:99#0",), (), ("unknown_evidence:[1]",)] == [
        report.unsupported for report in reports
    ]
    assert [1, 0, 1] == [len(report.unmet) for report in reports]


@pytest.mark.parametrize(
    ("reason", "text", "kind", "final"),
    [
        ("content_filter", "", FailureKind.NO_OUTPUT, True),
        ("content_filter", reply({}), FailureKind.NO_OUTPUT, True),
        ("stop", "", FailureKind.BLANK_OUTPUT, False),
        ("stop", "I'm sorry, I can't help with that.", FailureKind.PARSE_FAILURE, False),
        ("stop", "   \n", FailureKind.BLANK_OUTPUT, False),
        ("stop", None, FailureKind.NO_OUTPUT, False),
        (None, reply({}), FailureKind.PARTIAL_OUTPUT, False),
    ],
)
def test_each_way_of_saying_nothing_has_its_name(reason, text, kind, final):
    """R41: a block is not asked again; blank, refusing and unfinished answers are told apart."""
    broken = read(text, reason)

    assert (kind, final) == (kind_of(broken), final)
    if kind is FailureKind.PARSE_FAILURE:
        assert "refusal" in broken.detail


@pytest.mark.parametrize(
    "raw",
    [
        '{"a":1,"b":[2,],}',
        "{'a':'it','b':'x'}",
        '{"a":1 /* note */,"b":2}',
        '{"a":1,"b":[2',
        '{"a":1,"b":"unfin',
        '{"a":1,"b":}',
    ],
)
def test_nothing_is_closed_or_mended(raw):
    """R43: strict means strict, alone and around a whole answer."""
    inner = '{"commitment_type":"reply","slots":' + raw + ',"evidence_ids":[]}'

    assert FailureKind.PARSE_FAILURE == kind_of(read(raw))
    assert FailureKind.PARSE_FAILURE == kind_of(read(inner))


def test_undeclared_slots_stay_and_are_named():
    """R44: a misspelt slot is neither dropped nor replaced; the candidate is unsupported."""
    catalogue = acts(slot("allergens_checked", slot_type=SlotType.BOOL, optional=False))
    told = over(
        types=catalogue.types,
        in_scene=scene(commitment_types=("reply",), required_slots=("allergens_checked",)),
    )
    answers = [
        read(reply(slots), catalogue=catalogue)
        for slots in (
            {"alergens_checked": True},
            {"allergens_checked": True, "hidden_discount": 20},
            {"allergens_checked": True},
        )
    ]

    reports = judge(told, *(only(answer)[0] for answer in answers))

    assert [("slots.alergens_checked",), ("slots.hidden_discount",), ()] == [
        answer.undeclared for answer in answers
    ]
    assert [
        ("undeclared_slot:alergens_checked",),
        ("undeclared_slot:hidden_discount",),
        (),
    ] == [report.unsupported for report in reports]
    assert [1, 0, 0] == [len(report.unmet) for report in reports]


def test_a_doubled_allergen_list_ends_in_no_commitment():
    """R35: the failure is recorded with its kind; no commitment with an empty list follows."""
    conversation = started()
    conversation.tell(form(dish="soup"))
    packet = packet_of(asked(conversation))
    broken = read('{"commitment_type":"meal","slots":{"dish":"a","dish":"b"},"evidence_ids":[]}')

    conversation.tell(GenerationFailed("turn", None, broken.kind, None, None, ()), by=GENERATOR)

    assert packet.turn_id == "turn"
    assert [FailureKind.PARSE_FAILURE] == [one.kind for one in conversation.outcomes("turn")]
