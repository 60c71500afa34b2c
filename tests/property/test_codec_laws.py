"""The codec against the avro package, over any record of the vocabulary."""

import io

import avro.io
import avro.schema
import pytest
from hypothesis import HealthCheck, given, settings

from schemas.codec import DecodeError, decode, encode, frame, schema_text, unframe
from schemas.event import Event
from schemas.record import compile_writer
from schemas.value_json import parse_json, render_json
from tests.strategies import records, values
from tests.write_schemas import PUBLISHED

relaxed = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class NamedBranchWriter(avro.io.DatumWriter):
    """The avro package's writer, told which branch of a union is meant instead of guessing."""

    def write(self, datum, encoder):
        self.write_data(self.writers_schema, datum, encoder)

    def write_union(self, writers_schema, datum, encoder):
        name, datum = datum if isinstance(datum, tuple) else ("null", datum)
        names = [getattr(s, "fullname", s.type) for s in writers_schema.schemas]
        place = names.index(name)
        encoder.write_long(place)
        self.write_data(writers_schema.schemas[place], datum, encoder)


def plain(datum):
    """Return what the avro package takes: no branch names, which it infers from full records."""
    if isinstance(datum, tuple):
        return plain(datum[1])
    if isinstance(datum, dict):
        return {name: plain(item) for name, item in datum.items()}
    if isinstance(datum, list):
        return [plain(item) for item in datum]
    return datum


@pytest.mark.parametrize("record_class", PUBLISHED, ids=lambda cls: cls.__name__)
def test_a_record_survives_its_encoding(record_class):
    """Decoding what was encoded gives the record back, and no byte may follow."""

    @relaxed
    @given(records(record_class))
    def law(record):
        body = encode(record)

        assert record == decode(record_class, body)
        with pytest.raises(DecodeError, match="1 bytes too many"):
            decode(record_class, body + b"\0")

    law()


@pytest.mark.parametrize("record_class", PUBLISHED, ids=lambda cls: cls.__name__)
def test_the_avro_package_agrees(record_class):
    """The authority writes the same bytes, and reads back the structure that we meant."""
    schema = avro.schema.parse(schema_text(record_class))

    @relaxed
    @given(records(record_class))
    def law(record):
        body = encode(record)
        written = io.BytesIO()
        structure = compile_writer(record_class)(record)
        NamedBranchWriter(schema).write(structure, avro.io.BinaryEncoder(written))
        buffer = io.BytesIO(body)
        datum = avro.io.DatumReader(schema).read(avro.io.BinaryDecoder(buffer))

        assert body == written.getvalue()
        assert plain(structure) == datum
        assert buffer.read() == b""

    law()


@relaxed
@given(values)
def test_the_json_form_of_a_value_is_canonical(value):
    """Reading the JSON text of a value gives the value, and writing it again the same text."""
    text = render_json(value)

    assert value == parse_json(text)
    assert text == render_json(parse_json(text))


@relaxed
@given(records(Event))
def test_a_frame_names_its_schema(event):
    """A framed event opens to the event and its body; another fingerprint is unknown."""
    data = frame(event)

    assert (event, encode(event)) == unframe(Event, data)
    with pytest.raises(DecodeError) as refused:
        unframe(Event, data[:2] + bytes(8) + data[10:])
    assert refused.value.reason == "unknown_schema_id"
