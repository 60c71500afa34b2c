"""Certificates checked offline: right ones pass, and no field changes unnoticed (spec 6.3)."""

import copy
import hashlib
import json
from importlib import resources
from pathlib import Path

import pytest

from infra.archive.frames import encode_frame, hash_block
from infra.archive.merkle import is_included
from infra.archive.reading import Archive
from infra.archive.writing import PlacedEvent, PlacedOutput, write_archive
from infra.audit.certificates import check_certificates
from infra.audit.stated import CertificateError, read_certificates
from infra.event_json import render_record
from infra.importers.sgd import CANDIDATES, import_sgd
from infra.records import OUTCOME_TOPICS, read_output
from processors.certification import LoggedEvent, check_outcome, compare
from processors.view import Stamp
from schemas.codec import encode
from schemas.identity import outcome_id
from schemas.outcome import Commitment, RepairAct, TurnFailure
from schemas.turn import FailureKind
from tests.archives import fold_archive
from tests.conversation import GENERATOR, START_MS
from tests.kitchen import asked, candidates, failure, form, meal, started
from tests.mutations import list_paths, mutate
from tests.random_history import tell_crowd
from tests.situations import request

SAMPLE = Path(str(resources.files("infra") / "sample"))


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Return the shipped dialogues, every kind of candidate played, as an archive."""
    folder = tmp_path_factory.mktemp("sample") / "archive"
    fold_archive(folder, list(import_sgd([SAMPLE], frozenset(CANDIDATES))), segment_bytes=1 << 20)
    return Archive(folder)


@pytest.fixture(scope="module")
def stated(sample):
    """Return every outcome of the sample as outputs --json prints it."""
    return [
        {"offset": output.offset, "record": render_record(read_output(topic, output.record.value))}
        for topic in OUTCOME_TOPICS
        for output in sample.outputs(topic)
    ]


def check(archive, lines, folder):
    """Write certificates to a file, check them, and return what was found."""
    path = folder / "certificates.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return check_certificates(archive, read_certificates(path))


def test_every_certificate_of_the_sample_is_right(sample, stated, tmp_path):
    """All outcomes of a shipped history fold again to the very same records."""
    checked = check(sample, stated, tmp_path)

    assert [] == [one.differences for one in checked if one.differences]
    assert len(stated) == len(checked) > 50


def test_a_certificate_comes_with_its_proofs(sample, stated, tmp_path):
    """The deciding event, the outcome and all that it rests on are in the archive's tree."""
    root = sample.entry(0).root.hex()
    for one, line in zip(check(sample, stated[:5], tmp_path), stated, strict=False):
        rests_on = line["record"]["certificate"]["rests_on"]
        named = [f"rests on {event['event_id']}" for event in rests_on]

        assert ["decided at", "outcome", *named] == [proof.what for proof in one.inclusions]
        for proof in one.inclusions:
            path = [bytes.fromhex(step) for step in proof.path]
            digests = [bytes.fromhex(digest) for digest in proof.digests]
            leaf = hash_block(bytes.fromhex(proof.previous), digests)
            assert digests[proof.frame % 32] == digest_of(sample, proof.frame)
            assert root == proof.root
            assert is_included(
                leaf, index=proof.index, size=proof.size, path=path, root=bytes.fromhex(root)
            )


def digest_of(archive, number):
    """Return the digest of a frame as the archive's own bytes give it."""
    (frame,) = (frame for frame in archive.read_frames(0) if frame.number == number)
    content = encode_frame(kind=frame.kind, number=number, body=frame.body)
    return hashlib.sha256(content).digest()


def pick_kinds(stated):
    """Return one outcome of each kind, act and reason, the largest commitment among them."""
    first = {}
    for line in stated:
        record = line["record"]
        first.setdefault((record.get("act"), record.get("reason")), line)
    return list(first.values())


def test_no_field_of_a_certificate_can_be_changed_unnoticed(sample, stated, tmp_path):
    """Every single field, changed one at a time, is refused with that field named first."""
    lines, paths = [], []
    for line in pick_kinds(stated):
        for path in list_paths(line):
            changed = copy.deepcopy(line)
            mutate(changed, path)
            lines.append(changed)
            paths.append(path)
    unnamed = [
        (path, one.differences[:2])
        for path, one in zip(paths, check(sample, lines, tmp_path), strict=True)
        if not one.differences or one.differences[0].path not in {name(path), f"{name(path)}[0]"}
    ]

    assert [] == unnamed
    assert len(paths) > 500


def name(path):
    """Return a path as differences spell it, without the wrapper of the record."""
    parts = path[1:] if path[0] == "record" else path
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.removeprefix(".")


@pytest.mark.parametrize(
    ("field", "value"),
    [("tenant", "sgx"), ("user", "1_99999"), ("turn_id", "none"), ("seq", 999_999)],
)
def test_an_outcome_under_another_name_is_refused(sample, stated, tmp_path, field, value):
    """Whose outcome, of which turn, at which seq: each is a field that is named."""
    line = copy.deepcopy(stated[0])
    line["record"][field] = value
    (one,) = check(sample, [line], tmp_path)

    assert field == one.differences[0].path


def test_an_outcome_under_another_known_user_names_the_user(sample, stated, tmp_path):
    """The id still leads to the outcome as recorded, so that the name is what differs."""
    users = [line["record"]["user"] for line in stated]
    line = copy.deepcopy(stated[0])
    line["record"]["user"] = next(user for user in users if user != users[0])
    (one,) = check(sample, [line], tmp_path)

    assert "user" == one.differences[0].path


def test_an_outcome_of_another_history_is_refused(sample, stated, tmp_path):
    """Even if it names itself consistently, an outcome that no folding gives is refused."""
    line = copy.deepcopy(stated[0])
    record = line["record"]
    record["user"] = "nobody"
    record["outcome_id"] = outcome_id(
        tenant=record["tenant"], user="nobody", turn_id=record["turn_id"], seq=record["seq"]
    ).hex()
    (one,) = check(sample, [line], tmp_path)

    assert ("user", "nobody") == one.differences[0][:2]


def test_the_archive_must_record_what_folding_gives(tmp_path):
    """A right outcome that the archive does not hold among its outputs is named so."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given)
    given.tell(candidates(meal()), by=GENERATOR)
    (outcome,) = given.outcomes()
    fold_archive(tmp_path / "whole", given.events)
    drop_outcomes(tmp_path / "whole", tmp_path / "bare")
    whole, bare = (
        check(Archive(tmp_path / folder), [render_record(outcome)], tmp_path)[0]
        for folder in ("whole", "bare")
    )

    assert () == whole.differences
    assert ["archive"] == [difference.path for difference in bare.differences]


def drop_outcomes(source, target):
    """Write an archive anew without its outcomes."""
    archive = Archive(source)
    records = []
    for event in archive.history(0):
        r = event.record
        records.append(
            PlacedEvent(0, r.offset, r.timestamp_ms, r.key, r.value, r.headers, event.fate)
        )
        records += [
            PlacedOutput(0, r.offset, *output)
            for output in event.outputs
            if output.topic not in OUTCOME_TOPICS
        ]
    write_archive(
        target, records, [archive.entry(0).head], log_identity=archive.manifest.log_identity
    )


def logged(conversation):
    """Return a conversation's events as a history to be checked against."""
    history = []
    for number, event in enumerate(conversation.events, 1):
        body = encode(event)
        stamp = Stamp(
            hashlib.sha256(body).digest(), START_MS + 1_000 * number, 0, number, len(body), "open"
        )
        history.append(LoggedEvent(event, stamp))
    return history


@pytest.mark.parametrize("seed", range(6))
def test_outcomes_of_drawn_crowds_check_one_user_at_a_time(seed):
    """Whatever a crowd was told, each outcome follows from its own user's events alone."""
    conversation = tell_crowd(seed, users=3, events=90)
    history = logged(conversation)
    outcomes = conversation.outcomes()

    assert outcomes
    for outcome in outcomes:
        assert () == check_outcome(history, outcome), outcome.turn_id


def test_every_kind_of_outcome_checks(tmp_path):
    """Commitment, repair act and failure are all certificates."""
    given = started()
    given.tell(form(dish="soup"))
    asked(given)
    given.tell(candidates(meal()), by=GENERATOR)
    given.tell(request(), event_id="t2")
    given.tell(candidates(turn="t2"), by=GENERATOR)
    given.tell(request(), event_id="t3")
    given.tell(failure(FailureKind.TIMEOUT, turn="t3"), by=GENERATOR)
    fold_archive(tmp_path / "archive", given.events)
    outcomes = given.outcomes()
    checked = check(
        Archive(tmp_path / "archive"), [render_record(one) for one in outcomes], tmp_path
    )

    assert [Commitment, RepairAct, TurnFailure] == [type(one) for one in outcomes]
    assert [()] * 3 == [one.differences for one in checked]


def test_what_is_no_certificate_is_refused_with_the_field(tmp_path):
    """A file without names, or of another form, is refused before anything is folded."""
    for text, named in (
        ("", "no certificate"),
        ("[]", "not a JSON object"),
        ('{"turn_id": "t"}', "outcome_id"),
        (
            '{"outcome_id": "zz", "turn_id": "t", "seq": 1, "tenant": "t", "user": "u"}',
            "outcome_id",
        ),
        ('{"outcome_id": "00", "turn_id": "t", "seq": "1", "tenant": "t", "user": "u"}', "seq"),
    ):
        path = tmp_path / "file"
        path.write_text(text)
        with pytest.raises(CertificateError, match=named):
            read_certificates(path)


def test_differences_name_the_place():
    """Types count, symbols are their text, and both what is too much and too little is named."""
    stated = {"a": [1, {"b": True}], "c": "x", "extra": 1}
    found = {"a": [1, {"b": 1}, 2], "c": "x", "lost": None}

    assert [
        ("a[1].b", "True", "1"),
        ("a[2]", "absent", "2"),
        ("extra", "1", "absent"),
        ("lost", "absent", "None"),
    ] == [tuple(difference) for difference in compare(stated, found)]
