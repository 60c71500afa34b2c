"""The JSON form of events against the records, and against whatever else is sent."""

import json
import typing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.event_json import EventFormError, model_of, parse_event, render_record
from infra.event_json import _build as build_part
from infra.event_json import _check as check_part
from schemas.event import ControlPayload, UserPayload
from tests.strategies import records

PAYLOADS = (*typing.get_args(UserPayload), *typing.get_args(ControlPayload))
relaxed = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def without_unknown(data):
    return "unknown" not in json.dumps(data)


@pytest.mark.parametrize("payload_class", PAYLOADS, ids=lambda cls: cls.__name__)
def test_a_payload_survives_its_json_form(payload_class):
    """Reading what was rendered gives the payload back, whatever its values."""

    @relaxed
    @given(records(payload_class))
    def law(payload):
        data = json.loads(json.dumps(render_record(payload)))
        if without_unknown(data):
            model = check_part(model_of(payload_class), data)

            assert payload == build_part(model, payload_class)

    law()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | json_values.map(lambda data: json.dumps(data, default=str)))
def test_any_text_is_an_event_or_a_message(text):
    """Whatever stands on a line, the answer is an event or an error that says why."""
    try:
        parse_event(text)
    except EventFormError as error:
        assert str(error)  # noqa: PT017 - either answer is right


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "not a JSON object"),
        ('{"a":1,"a":2}', "duplicate_key a"),
        ('{"user":"u","at":NaN}', "NaN is no JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 10_000, "digits"),
        ('{"user":"u","at":"2026-01-01T00:00:00","payload":{}}', "at: Input should have timezone"),
        ('{"user":"u","at":"2026-01-01T00:00:00Z","payload":{"type":"Nope"}}', "payload.type"),
        (
            (
                '{"user":"u","at":"2026-01-01T00:00:00Z","payload":{"type":"UtteranceObserved",'
                '"text":5}}'
            ),
            "payload.text: Input should be a valid string",
        ),
        (
            (
                '{"user":"u","at":"2026-01-01T00:00:00Z","payload":{"type":"UtteranceObserved",'
                '"text":"x","txet":"y"}}'
            ),
            "payload.txet: no field of this name is known; leave it out",
        ),
        (
            (
                '{"user":"u","at":"2026-01-01T00:00:00Z","payload":{"type":"FormSubmitted",'
                '"statements":[{"slot":"a","value":1.5}]}}'
            ),
            'write {"$decimal": "..."}',
        ),
        (
            (
                '{"user":"u","at":"2026-01-01T00:00:00Z","payload":{"type":"EvidenceRecorded",'
                '"units":[{"content":"c","tail_witness":"false"}]}}'
            ),
            "payload.units.0.tail_witness: Input should be a valid boolean",
        ),
    ],
)
def test_an_error_names_field_and_fault(line, message):
    """A person can mend the line from the message alone."""
    with pytest.raises(EventFormError) as refused:
        parse_event(line)

    assert message in str(refused.value)
