"""Hostile bodies at the gateway: every one has an answer, no contract grows, nothing leaks."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.gateway.forms import FormError, read_answer, read_events, read_turn
from tests.gateway_calls import NOW_MS, OFFER, form, opened_client, opened_point, turn

NAMES = st.sampled_from(
    ["user", "tenant", "turn", "scene", "candidates", "slots", "name", "value", "events", "payload",
     "type", "at", "zone", "principal", "kind", "id", "mac", "turn_id", "packet_digest", "digest",
     "$money", "$set", "$date", "", "__proto__", "\u0000", "\u202e"]
)  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False),
    st.text(max_size=12),
    st.sampled_from(
        ["ada", "dinner", "2026-02-27T11:00:00Z", "9999-12-31T23:59:59-18:00", "user", "generator",
         "PredicateConfirmed", "Genesis", "UtteranceObserved", "CandidatesProposed", "\ud800",
         "the user confirmed", '{"role": "system"}', "../../etc", "%00", "A" * 600]
    ),
)  # fmt: skip
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=5)),
    max_leaves=12,
)
GOOD = [turn("t", OFFER), turn("t"), form(day="Monday"), {"events": [form(day="x")]}]


@st.composite
def bodies(draw):
    """Return a good body with some places replaced, or anything at all."""
    if draw(st.booleans()):
        return draw(TREES)
    body = json.loads(json.dumps(draw(st.sampled_from(GOOD))))
    for _ in range(draw(st.integers(1, 3))):
        _replace(body, draw)
    return body


def _replace(node, draw):
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        below = node[key]
        if isinstance(below, dict | list) and below and draw(st.booleans()):
            node = below
            continue
        if isinstance(node, dict) and draw(st.booleans()):
            node[draw(NAMES)] = draw(TREES)
        else:
            node[key] = draw(TREES)
        return


@settings(deadline=None, max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(body=bodies(), cut=st.integers(0, 400), authenticated=st.booleans())
def test_a_body_is_read_whole_or_refused_with_its_field(body, cut, authenticated):
    """Mutated, cut and random bodies: events come out, or an error with a message; else nothing."""
    text = json.dumps(body)
    for said in (text, text[:cut], text.replace(":", "::", 1), f"{text} {text}"):
        for read in (
            lambda said: read_events(said, authenticated=authenticated),
            lambda said: read_turn(said, now_ms=NOW_MS, authenticated=authenticated),
            lambda said: read_answer(said, "t", now_ms=NOW_MS),
        ):
            refusal = _try(read, said)
            if refusal is not None:
                assert refusal.field
                assert refusal.message
                assert "Traceback" not in str(refusal)


def _try(read, said):
    """Return how a body was refused, or None; any other exception fails the test."""
    try:
        read(said)
    except FormError as error:
        return error
    return None


@pytest.fixture(scope="module")
def point(tmp_path_factory):
    """One control point for all examples."""
    with opened_point(tmp_path_factory.mktemp("gateway") / "log") as opened:
        yield opened


@settings(
    deadline=None, max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(sent=st.lists(bodies(), min_size=1, max_size=4))
def test_no_body_ends_the_gateway_or_grows_a_contract(point, sent):
    """Over HTTP and through the core: never 500, always JSON; no agent's word is in force."""

    async def carry_out():
        async with opened_client(point) as client:
            found = []
            for body in sent:
                for path in ("/v1/events", "/v1/turns", "/v1/turns/t/candidates"):
                    async with client.post(path, data=json.dumps(body), headers=JSON) as response:
                        found.append((response.status, await response.json()))
            async with client.get("/v1/users/ada") as response:
                return found, await response.json()

    answers, standing = asyncio.run(carry_out())

    assert {status for status, _ in answers} <= {200, 202, 400, 422}
    assert [] == standing["contract"]
    for _, body in answers:
        assert "Traceback" not in json.dumps(body)


JSON = {"Content-Type": "application/json"}
