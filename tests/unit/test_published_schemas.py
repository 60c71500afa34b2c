"""The published .avsc files: equal to the records, never recursive, growing only compatibly."""

import json
from pathlib import Path

import avro.schema
import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker

from schemas.codec import parsed_schema, schema_fingerprint, schema_text, text_fingerprint
from tests.write_schemas import FOLDER, PUBLISHED

CLASSES = {record.__name__: record for record in PUBLISHED}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_published_file_is_what_the_record_says(name):
    """A changed record shows in the diff of its .avsc: run make schemas, update the changelog."""
    text = (FOLDER / f"{name}.avsc").read_text("utf-8")

    assert schema_text(CLASSES[name]) == text


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_fingerprint_is_that_of_the_avro_package(name):
    """Both libraries name a schema alike, so a foreign consumer can look it up."""
    expected = avro.schema.parse(schema_text(CLASSES[name])).fingerprint("CRC-64-AVRO")

    assert expected == schema_fingerprint(CLASSES[name])


def test_the_fingerprint_of_a_text_is_taken_once():
    """Verifying an archive finds the fingerprints of its schemas remembered: each costs 10 ms."""
    text = schema_text(CLASSES["Event"])

    assert text_fingerprint(text) is text_fingerprint("".join(text))


@pytest.mark.parametrize("path", sorted((FOLDER / "released").glob("*.avsc")), ids=lambda p: p.name)
def test_todays_records_read_every_released_schema(path: Path):
    """Whatever was ever written can be read: avro's own checker finds no incompatibility."""
    name = path.name.split(".")[0]
    reader = avro.schema.parse(schema_text(CLASSES[name]))
    writer = avro.schema.parse(path.read_text("utf-8"))
    result = ReaderWriterCompatibilityChecker().get_compatibility(reader=reader, writer=writer)

    assert result.compatibility.name == "compatible", result.messages


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_no_schema_refers_to_itself(name):
    """Recursion in a schema would let hostile nesting end the process on the C stack."""

    def walk(schema, open_names):
        if isinstance(schema, list):
            for branch in schema:
                walk(branch, open_names)
        elif isinstance(schema, dict):
            inner = open_names | {schema["name"]} if "name" in schema else open_names
            for part in (schema.get("items"), *(f["type"] for f in schema.get("fields", ()))):
                walk(part, inner)
        else:
            assert schema not in open_names

    walk(json.loads(schema_text(CLASSES[name])), frozenset())


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_no_enum_default_has_an_effect(name):
    """An old reader maps a symbol it does not know to ``unknown``, which never does anything."""

    def enums(schema):
        if isinstance(schema, list):
            for branch in schema:
                yield from enums(branch)
        elif isinstance(schema, dict):
            if schema["type"] == "enum":
                yield schema
            for part in (schema.get("items"), *(f["type"] for f in schema.get("fields", ()))):
                yield from enums(part)

    for enum in enums(json.loads(schema_text(CLASSES[name]))):
        assert enum.get("default") == "unknown"
        assert enum["symbols"][0] == "unknown"
    assert parsed_schema(CLASSES[name])
