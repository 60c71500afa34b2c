"""Backends over HTTP: every way in which a server fails has its own kind, and no call hangs."""

import json
import time
from contextlib import closing

import pytest

from infra.backends.choosing import BackendChoiceError, choose_backend
from infra.backends.openai import Form, OpenAIBackend
from infra.backends.recorded import RecordedBackend, Recorder, RecordingError
from infra.backends.simulated import SimulatedBackend
from infra.generation.asking import DecodingSettings
from infra.generation.generator import Generator
from schemas.candidate import Decoding
from schemas.event import CandidatesProposed, GenerationFailed
from schemas.outcome import Commitment, TurnFailure
from schemas.turn import FailureKind
from streams.clock import SimulatedClock
from tests.chat_server import CLOSE, CUT, DRIP, FLOOD, STALL, chat_server, good
from tests.conversation import GENERATOR
from tests.kitchen import asked, form, kitchen, packet_of, started

SOUP = '{"commitment_type":"meal","slots":{"dish":"soup"},"evidence_ids":[]}'
PATIENT = DecodingSettings(timeout_ms=20_000)
QUICK = DecodingSettings(timeout_ms=400)


def play(backend, decoding=PATIENT):
    """Return what a backend's answer to a turn is, and what the turn ends in."""
    conversation = started()
    conversation.tell(form(dish="soup"))
    packet = packet_of(asked(conversation))
    event = Generator(backend, decoding, SimulatedClock()).answer(packet, kitchen())
    conversation.tell(event.payload, by=GENERATOR, event_id=event.event_id)
    (outcome,) = conversation.outcomes("turn")
    return event.payload, outcome


@pytest.mark.parametrize(
    ("told", "kind", "attempts"),
    [
        ((500, {}, {"error": "overloaded"}), FailureKind.BACKEND_ERROR, 4),
        ((429, {"Retry-After": "1"}, {"error": "slow down"}), FailureKind.BACKEND_ERROR, 4),
        ((401, {}, {"error": "who are you"}), FailureKind.BACKEND_ERROR, 1),
        ((302, {"Location": "/else"}, {}), FailureKind.BACKEND_ERROR, 1),
        ((200, {}, b"<html>garbage</html>"), FailureKind.BACKEND_ERROR, 4),
        ((200, {}, {"choices": []}), FailureKind.BACKEND_ERROR, 4),
        ((200, {}, b"[" * 100_000), FailureKind.BACKEND_ERROR, 4),
        (CUT, FailureKind.BACKEND_ERROR, 4),
        (CLOSE, FailureKind.BACKEND_ERROR, 4),
        (FLOOD, FailureKind.BACKEND_ERROR, 4),
        (STALL, FailureKind.TIMEOUT, 1),
        (DRIP, FailureKind.TIMEOUT, 1),
        (good(None), FailureKind.NO_OUTPUT, 4),
        (good("", "content_filter"), FailureKind.NO_OUTPUT, 1),
        (good(None, refusal="I can't."), FailureKind.NO_OUTPUT, 1),
        (good("  "), FailureKind.BLANK_OUTPUT, 4),
        (good(SOUP, "length"), FailureKind.PARTIAL_OUTPUT, 4),
        (good(SOUP + SOUP), FailureKind.PARSE_FAILURE, 4),
    ],
)
def test_each_failure_of_a_server_ends_in_its_own_kind(told, kind, attempts):
    """The turn ends as TurnFailure of that kind, with every attempt recorded."""
    with chat_server(told) as (url, requests, _):
        payload, outcome = play(OpenAIBackend(url), QUICK if told in (STALL, DRIP) else PATIENT)

    assert isinstance(payload, GenerationFailed)
    assert isinstance(outcome, TurnFailure)
    assert (kind, attempts) == (outcome.kind, len(outcome.attempts))
    assert attempts == len(requests)
    assert {kind.value} == {attempt.outcome for attempt in payload.attempts}
    assert all(attempt.detail for attempt in payload.attempts)


def test_a_server_that_is_not_there_is_a_backend_error():
    """A refused connection is tried as often as any other fault."""
    payload, outcome = play(OpenAIBackend("http://127.0.0.1:9"))

    assert (FailureKind.BACKEND_ERROR, 4) == (outcome.kind, len(payload.attempts))


def test_no_call_takes_longer_than_it_was_given():
    """A server that sends a byte now and then gains no time by it."""
    with chat_server(DRIP) as (url, _, _):
        began = time.monotonic()
        play(OpenAIBackend(url), QUICK)

    assert time.monotonic() - began < 5


def test_a_retry_follows_a_broken_answer_and_is_recorded():
    """After a broken answer and a server error the good one counts; all three are kept."""
    with chat_server(good("no"), (503, {}, {}), good(SOUP)) as (url, requests, _):
        payload, outcome = play(OpenAIBackend(url))

    assert isinstance(payload, CandidatesProposed)
    assert isinstance(outcome, Commitment)
    assert ["parse_failure", "backend_error", "answered"] == [a.outcome for a in payload.attempts]
    assert [1, 2, 3] == [request["seed"] for request in requests]
    assert "'no'" in payload.attempts[0].detail
    assert "not in this form" in requests[1]["messages"][0]["content"]
    assert SOUP == payload.raw_output
    assert payload.decoding == Decoding("openai", "tiny-1", "b7", 200_000, 2_200, 20_000, 1)
    assert 9 == payload.attempts[2].tokens
    assert "request of 40 tokens" in payload.attempts[2].detail


def test_the_schema_goes_out_in_the_form_that_the_server_takes():
    """A refused response_format becomes a tool call, a refused tool the prompt alone."""
    refused = (400, {}, {"error": "response_format is not supported"})
    no_tools = (400, {}, {"error": "tools are not supported"})
    called = {"function": {"name": "propose", "arguments": SOUP}}
    with chat_server(refused, no_tools, good(SOUP)) as (url, requests, _):
        play(OpenAIBackend(url))
    with chat_server(good(None, "tool_calls", tool_calls=[called])) as (url, tooled, _):
        payload, _ = play(OpenAIBackend(url, form=Form.TOOL))

    schema = requests[0]["response_format"]["json_schema"]["schema"]
    assert {"diet", "dish"} == set(schema["properties"]["slots"]["properties"])
    assert "tools" in requests[1]
    assert not {"response_format", "tools"} & requests[2].keys()
    assert schema == tooled[0]["tools"][0]["function"]["parameters"]
    assert "soup" == payload.candidates[0].slots[0].value


def test_two_tool_calls_are_a_second_object():
    """Of two calls none is picked."""
    called = {"function": {"name": "propose", "arguments": SOUP}}
    with chat_server(good(None, "tool_calls", tool_calls=[called, called])) as (url, _, _):
        _, outcome = play(OpenAIBackend(url, form=Form.TOOL))

    assert FailureKind.PARSE_FAILURE is outcome.kind


def test_the_key_goes_to_the_server_and_nowhere_else():
    """The API key is a header of the call; no event holds it."""
    with chat_server((403, {}, {"error": "wrong key"})) as (url, _, keys):
        payload, _ = play(OpenAIBackend(url, api_key="s3cret"))

    assert ["Bearer s3cret"] == keys
    assert "s3cret" not in repr(payload)


def test_a_recording_says_again_what_was_said(tmp_path):
    """Answers, broken answers and errors replay with their times, and no server is called."""
    path = tmp_path / "replies.jsonl"
    with chat_server(good("no"), (503, {}, {}), good(SOUP)) as (url, _, _):
        recorder = Recorder(OpenAIBackend(url), path)
        first, outcome = play(recorder)
        recorder.close()

    again, repeated = play(RecordedBackend(path))

    assert first.attempts == again.attempts
    assert first.candidates == again.candidates
    assert ("openai", "tiny-1") == (again.decoding.backend, again.decoding.model)
    assert first == again
    assert outcome == repeated


def test_what_a_recording_holds_is_not_asked_for_again(tmp_path):
    """Resumed, an answer comes from the file as it was; only what is missing is asked for."""
    path = tmp_path / "replies.jsonl"
    with chat_server(good(SOUP)) as (url, requests, _):
        with closing(choose_backend(f"openai:{url}", record=path, resume=True)) as backend:
            first, outcome = play(backend)
        with closing(choose_backend(f"openai:{url}", record=path, resume=True)) as backend:
            again, repeated = play(backend)

    assert 1 == len(requests)
    assert first == again
    assert outcome == repeated
    assert 1 == path.read_text().count("\n")


def test_a_recording_that_names_no_backend_is_a_recording(tmp_path):
    """Lines of an earlier release are read too."""
    path = tmp_path / "replies.jsonl"
    with chat_server(good(SOUP)) as (url, _, _):
        recorder = Recorder(OpenAIBackend(url), path)
        play(recorder)
        recorder.close()
    path.write_text(path.read_text().replace('"backend": "openai", ', ""))

    again, _ = play(RecordedBackend(path))

    assert ("recorded", "tiny-1") == (again.decoding.backend, again.decoding.model)


def test_a_recording_without_the_packet_is_a_backend_error(tmp_path):
    """What was never recorded is not made up."""
    path = tmp_path / "none.jsonl"
    path.write_text("")

    payload, _ = play(RecordedBackend(path))

    assert (FailureKind.BACKEND_ERROR, 1) == (payload.kind, len(payload.attempts))


def test_simulated_answers_are_seeded_and_labelled():
    """Equal seeds answer alike; the record always says that it was simulated."""
    one, two, other = (play(SimulatedBackend(seed))[0] for seed in (3, 3, 4))

    assert one == two
    assert {"simulated"} == {payload.decoding.backend for payload in (one, two, other)}
    assert ("simulated-3", "simulated-4") == (one.decoding.model, other.decoding.model)


def test_every_simulated_fault_is_one_that_is_named():
    """Over many seeds each way of breaking occurs and ends the turn in a known kind."""
    decoding = DecodingSettings(retries_max=0)
    kinds = {
        getattr(play(SimulatedBackend(seed, broken_percent=100), decoding)[1], "kind", None)
        for seed in range(60)
    }

    assert kinds == set(FailureKind) - {
        FailureKind.UNKNOWN,
        FailureKind.CANCELLED,
        FailureKind.EXPIRED,
    }


@pytest.mark.parametrize(
    "name", ["", "nix", "openai:ftp://x", "recorded:", "simulated:x", "recorded:/no/such/file"]
)
def test_a_wrong_choice_of_backend_is_a_message(name):
    """A setting that names no backend is said, with the forms that do."""
    with pytest.raises(BackendChoiceError):
        choose_backend(name)


def test_a_file_that_is_no_recording_is_refused_by_line(tmp_path):
    """The message names the line."""
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({"subject": "00"}) + "\n")

    with pytest.raises(RecordingError, match="line 1"):
        RecordedBackend(path)
