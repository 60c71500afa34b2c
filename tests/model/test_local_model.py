"""The real local model: llama.cpp over HTTP in a process of its own, good and killed.

The model is small and its proposals poor; what must hold is that every turn ends in one outcome
and that nothing of the server's fate gets past the grammar.
"""

import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import infra
from infra.appending import append_events
from infra.audit.replay import replay
from infra.backends.local import LlamaServer, LocalBackend, find_model
from infra.backends.openai import Form, OpenAIBackend
from infra.backends.recorded import RecordedBackend, Recorder
from infra.cli.console import open_log
from infra.generation import generator as generating
from infra.generation.answer import Answer, read_answer
from infra.generation.asking import DecodingSettings
from infra.generation.generator import Generator, ask_candidates
from infra.generation.pending import PendingTurns, converse, list_outcomes
from infra.generation.phrasing import Policy, phrase_all
from infra.generation.schema import build_schema, list_amendable
from infra.importers.sgd import import_sgd
from schemas.event import CandidatesProposed, GenerationFailed
from schemas.outcome import Commitment
from schemas.turn import FailureKind
from tests.amending import ask_again, cooking
from tests.conversation import GENERATOR
from tests.kitchen import asked, candidates, form, kitchen, packet_of, started

SHORT = DecodingSettings(tokens_max=160, retries_max=1, timeout_ms=120_000)
SAMPLE = Path(infra.__file__).parent / "sample"
DIALOGUES = 2


@pytest.fixture(scope="module")
def model():
    """Yield the local model, started once."""
    backend = LocalBackend()
    yield backend
    backend.close()


@pytest.fixture
def server():
    """Yield a model server that a test may hurt."""
    running = LlamaServer(find_model())
    yield running
    running.process.send_signal(signal.SIGCONT)
    running.stop()


def packet():
    """Return a packet of the kitchen."""
    conversation = started()
    conversation.tell(form(dish="soup"))
    return packet_of(asked(conversation, text="the soup, please"))


def test_a_constrained_answer_is_in_the_grammar(model):
    """The model's text is one candidate of the scene, and the record says how it was made."""
    asked_once = ask_candidates(packet(), kitchen(), model, SHORT)

    assert isinstance(asked_once.read, Answer)
    assert "meal" == asked_once.read.candidates[0].commitment_type
    assert asked_once.decoding.model.startswith("SmolLM2-135M-Instruct")
    assert asked_once.decoding.server_version
    assert asked_once.attempts[-1].tokens


def test_dialogues_end_in_one_outcome_each_and_replay_alike(model, tmp_path):
    """Real dialogues, real model: one outcome a turn; the recording gives the same without it."""
    path = tmp_path / "replies.jsonl"
    recorder = Recorder(model, path)
    first = play(tmp_path / "first", recorder)
    recorder._file.close()

    again = play(tmp_path / "again", RecordedBackend(path))

    assert first == again
    assert len({turn for _, turn, _ in first}) == len(first)
    assert path.read_text().count("\n") >= DIALOGUES


def play(folder, backend):
    """Return the outcomes of the dialogues with this backend, once they have been replayed."""
    with open_log(folder, must_exist=False) as embedded:
        turns = PendingTurns(embedded, Generator(backend, SHORT))
        list(converse(embedded, take_dialogues(), turns))
        report = replay(embedded, lambda _done, _left: None)
        assert 0 == report.missing + report.duplicate + report.divergent
        return [(t, r.turn_id, getattr(r, "slots", ())) for t, r in list_outcomes(embedded)]


def take_dialogues():
    """Yield the events of the first sample dialogues, without the candidates of their authors."""
    users = {}
    for event in import_sgd([SAMPLE], frozenset({"gold"})):
        if event.user and users.setdefault(event.user, len(users)) >= DIALOGUES:
            return
        if not isinstance(event.payload, CandidatesProposed):
            yield event


def test_a_constrained_model_amends_what_the_packet_shows(model, monkeypatch):
    """Held to the form of an amendment, it can only name the commitment there is; LCV takes it."""
    talk = cooking()
    packet = ask_again(talk, text="stew instead, please")
    whole = build_schema(packet, kitchen(), candidates_max=1)
    forms = [one for one in whole["anyOf"] if "amends" in one["properties"]]
    monkeypatch.setattr(generating, "build_schema", lambda *_, **__: {"anyOf": forms})

    asked_once = ask_candidates(packet, kitchen(), model, SHORT)

    assert isinstance(asked_once.read, Answer)
    (outcome,) = talk.tell(
        candidates(*asked_once.read.candidates, turn="again"), by=GENERATOR
    ).outputs
    assert asked_once.read.candidates[0].amends == list_amendable(packet)[0][1]
    assert isinstance(outcome, Commitment)
    assert 2 == outcome.version


@pytest.mark.parametrize("form", [Form.SCHEMA, Form.PLAIN])
def test_other_forms_of_asking_end_in_an_answer_or_a_named_failure(model, form):
    """Without a grammar the model mostly breaks the form, and each time it is said how."""
    ask_candidates(packet(), kitchen(), model, SHORT)  # Starts the server, if none runs yet.
    client = OpenAIBackend(model._server.address, form=form)

    event = Generator(client, replace(SHORT, tokens_max=60, retries_max=0)).answer(
        packet(), kitchen()
    )

    if isinstance(event.payload, GenerationFailed):
        assert event.payload.kind in {FailureKind.PARSE_FAILURE, FailureKind.PARTIAL_OUTPUT}
        assert event.payload.raw_output
    else:
        assert isinstance(read_answer(event.payload.raw_output, "stop", kitchen()), Answer)


def test_a_server_killed_in_mid_answer_is_a_backend_error(server):
    """The connection ends without a reply; the attempts that follow find nobody."""
    killer = threading.Timer(0.3, server.process.kill)
    killer.start()
    client = OpenAIBackend(server.address, form=Form.PLAIN)

    event = Generator(client, replace(SHORT, tokens_max=2_000)).answer(packet(), kitchen())
    killer.join()

    assert isinstance(event.payload, GenerationFailed)
    assert FailureKind.BACKEND_ERROR is event.payload.kind
    assert ["backend_error"] * 2 == [attempt.outcome for attempt in event.payload.attempts]


def test_a_stalled_server_is_a_timeout(server):
    """A process that stands still holds nobody up for longer than the call may take."""
    server.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()

    event = Generator(OpenAIBackend(server.address), replace(SHORT, timeout_ms=700)).answer(
        packet(), kitchen()
    )

    assert FailureKind.TIMEOUT is event.payload.kind
    assert time.monotonic() - began < 10


def test_a_dead_local_model_is_started_again():
    """The process died between two calls; the next call has a new one."""
    backend = LocalBackend()
    try:
        first = ask_candidates(packet(), kitchen(), backend, SHORT)
        backend._server.process.kill()
        backend._server.process.wait()
        again = ask_candidates(packet(), kitchen(), backend, SHORT)
    finally:
        backend.close()

    assert first.read == again.read


def test_the_model_phrases_what_was_committed(model, tmp_path):
    """A phrasing is accepted or recorded with its mismatches; under the template policy it fits."""
    with open_log(tmp_path / "log", must_exist=False) as embedded:
        events = [
            event
            for event in import_sgd([SAMPLE], frozenset({"gold"}))
            if event.user in {"", "1_00000"}
        ]
        append_events(embedded, events)
        embedded.fold_pending()
        commitments = len(list(embedded.outputs("commitments")))
        generator = Generator(model, replace(SHORT, retries_max=0))
        turns = PendingTurns(embedded, generator)
        phrased = list(phrase_all(embedded, generator, turns, Policy.TEMPLATE))
        surfaces = list(embedded.outputs("surfaces"))

    assert commitments == len(phrased) == len(surfaces)
