"""The gateway: events and candidates in, a commitment or a repair act out, every mistake named."""

import io
import json

import pytest

from infra.cli.console import CommandError
from infra.cli.gateway import TOKEN, read_token
from infra.gateway.openapi import describe_api
from infra.gateway.server import BODY_BYTES_MAX
from tests.gateway_calls import OFFER, call, form, opened_point, post, turn


@pytest.fixture
def point(tmp_path):
    """A control point over a log of its own."""
    with opened_point(tmp_path / "log") as opened:
        yield opened


def test_events_and_candidates_come_out_as_a_commitment(point):
    """Asked, told, decided; the same call again is the same outcome."""
    answers = call(
        point,
        post("/v1/turns", turn("t1", OFFER)),
        post("/v1/events", form(day="Monday")),
        post("/v1/turns", turn("t2", OFFER)),
        post("/v1/turns", turn("t2", OFFER)),
    )
    first, told, done, again = (body for _, body in answers)

    assert [200] * 4 == [status for status, _ in answers]
    assert ("repair", "clarify") == (first["outcome"], first["record"]["act"])
    assert ["accepted"] == [one["status"] for one in told["events"]]
    assert ("commitment", "booking") == (done["outcome"], done["record"]["commitment_type"])
    assert done == again


def test_without_candidates_the_packet_comes_back_and_can_be_answered(point):
    """An agent that wants the evidence first asks, reads the packet, and answers its digest."""
    ((_, told), (status, pending)) = call(
        point, post("/v1/events", form(day="Monday")), post("/v1/turns", turn("t1"))
    )
    digest = pending["packet_digest"]
    answer = {"user": "ada", "candidates": [OFFER], "packet_digest": digest}
    (stale, done, known, unknown, standing) = call(
        point,
        post("/v1/turns/t1/candidates", answer | {"packet_digest": "00" * 32}),
        post("/v1/turns/t1/candidates", answer),
        ("GET", "/v1/turns/t1?user=ada", {}),
        ("GET", "/v1/turns/t9?user=ada", {}),
        ("GET", "/v1/users/ada", {}),
    )

    assert "accepted" == told["events"][0]["status"]
    assert (202, ["day"]) == (status, [unit["slot"] for unit in pending["packet"]["units"]][:1])
    assert (202, "pending") == (stale[0], stale[1]["outcome"])
    assert (200, "commitment") == (done[0], done[1]["outcome"])
    assert done == known
    assert 404 == unknown[0]
    assert (200, "day") == (standing[0], standing[1]["slots"][0]["slot"])


def test_what_the_core_rejects_is_said_with_its_reason(point):
    """A turn in no scene, a confirmation by a model: 422 and the reason of the closed list."""
    confirmation = {
        "user": "ada",
        "at": "2026-02-27T11:00:00+00:00",
        "principal": {"kind": "generator", "id": "m"},
        "payload": {"type": "PredicateConfirmed", "digest": "00" * 32},
    }
    nowhere = turn("t1", OFFER, turn={"scene": "nowhere"})
    ((status, body), (other, rejected)) = call(
        point, post("/v1/events", {"events": [form(day="x"), confirmation]}),
        post("/v1/turns", nowhere),
    )  # fmt: skip

    assert [("accepted", ""), ("rejected", "not_permitted")] == [
        (one["status"], one["reason"]) for one in body["events"]
    ]
    assert (422, 422, "t1") == (status, other, rejected["turn_id"])


MISTAKES = [
    ("/v1/turns", "[]", 400, "body"),
    ("/v1/turns", "{", 400, "body"),
    ("/v1/turns", '{"user": "ada", "user": "bob"}', 400, "body"),
    ("/v1/turns", "{}", 400, "user"),
    ("/v1/turns", '{"user": 7, "turn": {}}', 400, "user"),
    ("/v1/turns", '{"user": "ada", "turn": {}}', 400, "turn.scene"),
    ("/v1/turns", '{"user": "ada", "turn": {"scene": "dinner"}, "candidates": [{}]}', 400,
     "candidates[0].commitment_type"),
    ("/v1/turns", '{"user": "ada", "turn": {"scene": "dinner"}, "candidates": 1}', 400,
     "candidates"),
    ("/v1/turns", '{"user": "ada", "turn": {"scene": "dinner"}, "at": "2026-01-01T00:00"}', 400,
     "at"),
    ("/v1/turns", '{"user": "ada", "turn": {}, "principal": {"kind": "x", "id": "c"}}', 400,
     "turn.scene"),
    ("/v1/turns", '{"user": "ada", "turn": {"scene": "\\ud800"}}', 400, "turn.scene"),
    ("/v1/turns/t/candidates", '{"user": "ada"}', 400, "candidates"),
    ("/v1/turns/t/candidates", '{"user": "ada", "candidates": [], "packet_digest": "x"}', 400,
     "packet_digest"),
    ("/v1/events", '{"events": []}', 400, "events"),
    ("/v1/events", '{"events": [{"user": "ada"}]}', 400, "events[0].at"),
    ("/v1/events", '{"user": "", "at": "2026-01-01T00:00:00Z", "payload": {"type": "Genesis"}}',
     400, "payload.ruleset"),
    ("/v1/events", '{"at": "2026-01-01T00:00:00Z", "payload": {"type": "Nothing"}}', 400,
     "payload.type"),
    ("/v1/events", "[" * 100_000, 400, "body"),
    ("/v1/events", '{"events": 1e999}', 400, "events"),
    ("/v1/nothing", "{}", 404, ""),
]  # fmt: skip


def test_every_mistake_names_its_field_and_says_no_more(point):
    """A clear error with field and remedy, no traceback, no path of a file; nothing is appended."""
    headers = {"Content-Type": "application/json"}
    answers = call(
        point,
        *[("POST", path, {"data": body, "headers": headers}) for path, body, _, _ in MISTAKES],
    )

    for (path, body, status, field), (found, answer) in zip(MISTAKES, answers, strict=True):
        assert (status, True) == (found, answer["error"]["field"].startswith(field)), (path, body)
        assert answer["error"]["message"]
        assert not any(word in json.dumps(answer) for word in ("Traceback", ".py", "infra"))
        assert "Field required" not in answer["error"]["message"]
    assert 404 == call(point, ("GET", "/v1/turns/t?user=ada", {}))[0][0]


def test_bodies_are_bounded_and_typed(point):
    """Too large, not JSON, not UTF-8, the wrong method: each has its own answer."""
    headers = {"Content-Type": "application/json"}
    large = b" " * (BODY_BYTES_MAX + 1)
    answers = call(
        point,
        ("POST", "/v1/events", {"data": io.BytesIO(large), "headers": headers}),
        ("POST", "/v1/events", {"data": b"{}", "headers": {"Content-Type": "text/plain"}}),
        ("POST", "/v1/events", {"data": b"\xff", "headers": headers}),
        ("DELETE", "/v1/events", {}),
    )

    assert [413, 400, 400, 405] == [status for status, _ in answers]
    assert ["body", "Content-Type", "body", ""] == [body["error"]["field"] for _, body in answers]


def test_web_pages_and_other_hosts_are_refused(point):
    """A page in a browser on this machine cannot confirm anything in the user's name."""
    answers = call(
        point,
        ("POST", "/v1/events", {"json": {}, "headers": {"Origin": "http://evil.example"}}),
        ("GET", "/v1/health", {"headers": {"Host": "evil.example"}}),
        ("GET", "/v1/health", {}),
    )

    assert [403, 403, 200] == [status for status, _ in answers]


def test_a_token_is_needed_where_one_is_set(point, monkeypatch):
    """Off loopback there must be one; without it or with another nothing is answered."""
    right = {"headers": {"Authorization": "Bearer 0123456789abcdef"}}
    answers = call(
        point, ("GET", "/v1/health", {}), ("GET", "/v1/health", right), token="0123456789abcdef"
    )
    monkeypatch.delenv(TOKEN, raising=False)

    assert [401, 200] == [status for status, _ in answers]
    assert "" == read_token("127.0.0.1")
    with pytest.raises(CommandError):
        read_token("0.0.0.0")
    monkeypatch.setenv(TOKEN, "short")
    with pytest.raises(CommandError):
        read_token("127.0.0.1")


def test_an_agent_cannot_speak_for_the_user_where_signatures_count(tmp_path):
    """The gateway signs no user's words: they come signed by the edge that holds the channel."""
    confirmation = {
        "user": "ada", "at": "2026-02-27T11:00:00+00:00",
        "payload": {"type": "ClarificationAnswered", "question_id": None, "answer": "confirm"},
    }  # fmt: skip
    with opened_point(tmp_path / "log", authenticated=True) as point:
        ((status, body),) = call(point, post("/v1/events", confirmation))

    assert (400, "mac") == (status, body["error"]["field"])


def test_the_description_names_every_call_and_every_reference(point):
    """OpenAPI 3.1: the routes that are served, and no reference into nothing."""
    ((status, served),) = call(point, ("GET", "/v1/openapi.json", {}))
    text = json.dumps(served)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}

    assert (200, describe_api()) == (status, served)
    assert named <= set(served["components"]["schemas"])
    assert {"/v1/events", "/v1/turns", "/v1/turns/{turn_id}/candidates"} <= set(served["paths"])
