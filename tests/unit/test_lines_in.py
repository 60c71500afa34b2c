"""What ``observe`` does with lines that are JSON but have no place in a record."""

import json

from typer.testing import CliRunner

from infra.cli.commands import app

CATALOGUE = {
    "name": "dinner",
    "scenes": [{"name": "book", "commitment_types": ["booking"], "required_slots": ["place"]}],
    "types": [
        {
            "name": "booking",
            "required_slots": ["place"],
            "slots": [{"name": "place", "slot_type": "string"}],
        }
    ],
}


def say(value, **fields):
    """Return the line of an event that states one slot."""
    statements = [{"slot": "place", "value": value}]
    payload = {"type": "FormSubmitted", "statements": statements}
    event = {"user": "ada", "at": "2026-03-01T18:00:00Z", "payload": payload, **fields}
    return json.dumps(event)


WRONG = (
    (say("a", source="s", source_seq=2**70), "source_seq"),
    (say("a", source="s", source_seq=-(2**63) - 1), "source_seq"),
    (say("\ud83d"), "payload.statements.0.value"),
    (say(["a", {"b": "\udfff"}]), "payload.statements.0.value"),
    (say({"\ud83d": 1}), "payload.statements.0.value"),
    (say({"$set": ["\ud83d"]}), "payload.statements.0.value"),
    (say("a", user="\ud83d"), "user"),
    (say("a", event_id="\ud83d"), "event_id"),
    (say("a", derived_from=["\ud83d"]), "derived_from.0"),
    (say("a", principal={"kind": "user", "id": "\ud83d"}), "principal.id"),
    (say("a", **{"\ud83d": 1}), "unicode"),
    (say("a", at=5), "at: no time"),
    (say("a", at="5"), "at: no time"),
    (say("a", at="2026-03-01"), "at: no time"),
    (say("a", source_seq=1).replace("1}", "1" * 5000 + "}"), "thousands of digits"),
    (say("a", principal=[]), "principal: not a JSON object"),
    (say("a", extra=1), "extra: no field of this name"),
    (say("a", mac="zz"), "mac: not hexadecimal digits"),
)


def test_a_line_that_no_record_can_hold_is_named_and_the_others_go_in(tmp_path):
    """Behind a byte order mark every good line is appended, every wrong one is named."""
    (tmp_path / "catalogue.json").write_text(json.dumps(CATALOGUE), "utf-8")
    lines = [say("b"), *(line for line, _ in WRONG), say("c")]
    (tmp_path / "lines").write_text("\n".join(lines), "utf-8-sig")
    log = ("--log", str(tmp_path / "log"))
    runner = CliRunner()
    begun = runner.invoke(app, ["init", *log, "--catalogue", str(tmp_path / "catalogue.json")])
    assert 0 == begun.exit_code, begun.output

    result = runner.invoke(app, ["observe", *log, str(tmp_path / "lines"), "--json"])

    assert 1 == result.exit_code, result.output
    answer = json.loads(result.stdout)
    assert 2 == answer["appended"]
    assert list(range(2, len(WRONG) + 2)) == [wrong["line"] for wrong in answer["wrong"]]
    for wrong, (_, field) in zip(answer["wrong"], WRONG, strict=True):
        assert field in wrong["reason"]


def test_wrong_candidates_are_one_line_of_error_and_rejected_ones_are_told(tmp_path):
    """Whatever the file holds, ``turn`` ends with the file and its fault, and never as if done."""
    (tmp_path / "catalogue.json").write_text(json.dumps(CATALOGUE), "utf-8")
    log = ("--log", str(tmp_path / "log"))
    asked = ("turn", *log, "--user", "ada", "--scene", "book", "--candidates")
    runner = CliRunner()
    runner.invoke(app, ["init", *log, "--catalogue", str(tmp_path / "catalogue.json")])
    (tmp_path / "lines").write_text(say("b"), "utf-8")
    runner.invoke(app, ["observe", *log, str(tmp_path / "lines")])
    long = [{"name": "place", "value": "x" * 20_000_000}]
    cases = {
        "nested too deeply": b"[" * 100_000,
        "NaN is no JSON number": b'{"commitment_type": NaN}',
        "thousands of digits": b"9" * 5_000,
        "not UTF-8 at byte 1": b"\x1f\x8b\x08",
        "not JSON at character 0": b"",
    }
    for fault, content in cases.items():
        (tmp_path / "call.json").write_bytes(content)
        result = runner.invoke(app, [*asked, str(tmp_path / "call.json"), "--json"])
        assert 2 == result.exit_code, (fault, result.output)
        assert fault in json.loads(result.stderr)["error"]

    (tmp_path / "call.json").write_text(
        json.dumps({"commitment_type": "booking", "slots": long}), "utf-8"
    )
    result = runner.invoke(app, [*asked, str(tmp_path / "call.json"), "--json"])

    assert 1 == result.exit_code
    assert "too_large" == json.loads(result.stdout)["rejected"]
