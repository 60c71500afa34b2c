"""The fixtures: how many, how hard, the same every time, and accepted event by event."""

import json
from collections import Counter
from itertools import islice

from infra.evaluation.fixture import Bucket, Expected
from infra.evaluation.generation import generate_fixtures
from infra.evaluation.histories import read_histories, write_histories
from infra.evaluation.labelling import read_labels, write_labels
from infra.evaluation.running import open_log, read_packets, run_variant
from infra.evaluation.variants.cbea_lcv import VARIANT as FULL
from infra.records import read_output
from schemas.codec import encode

DRAWN = tuple(generate_fixtures())


def test_there_are_sixty_fixtures_in_each_bucket():
    """360 fixtures in six buckets, in cases of three lengths."""
    assert dict.fromkeys(Bucket, 60) == Counter(label.bucket for _, label in DRAWN)
    assert set(Counter(label.case_id for _, label in DRAWN).values()) == {3}


def test_lengths_spread_from_a_dozen_to_over_three_hundred():
    """Histories are short, medium and long on a logarithmic scale."""
    lengths = sorted(len(fixture.events) for fixture, _ in DRAWN)

    assert lengths[0] <= 15
    assert 50 <= lengths[180] <= 100
    assert lengths[-1] > 300


def test_d_repair_is_larger_than_d_0():
    """Some fixtures expect a repair though something feasible is left."""
    repairs = [label for _, label in DRAWN if label.expected is not Expected.COMMIT]
    empty = [label for _, label in DRAWN if not label.feasible]

    assert {one.fixture_id for one in empty} < {one.fixture_id for one in repairs}


def test_the_same_seed_gives_the_same_bytes():
    """Two generations agree in every event body and every label."""
    again = tuple(islice(generate_fixtures(), 60))

    assert DRAWN[:60] == again
    bodies = [[encode(event) for event in fixture.events] for fixture, _ in DRAWN[:60:9]]
    assert bodies == [[encode(event) for event in fixture.events] for fixture, _ in again[::9]]


def test_another_seed_gives_other_histories():
    """The seed is all that chance depends on."""
    other, _ = next(generate_fixtures(8))

    assert DRAWN[0][0].fixture_id == other.fixture_id
    assert DRAWN[0][0].events != other.events


def test_every_event_of_a_history_is_accepted_and_unit_ids_are_its_positions(tmp_path):
    """The pipeline takes every event, so the labels' unit ids name what they mean."""
    some = [pair for pair in DRAWN[5:300:59] if pair[1].expected is Expected.COMMIT]
    assert len(some) > 2

    run_variant(FULL, [fixture for fixture, _ in some], None, tmp_path, tokens_max=1)

    with open_log(tmp_path, FULL) as embedded:
        assert [] == list(embedded.outputs("rejections"))
        packets = read_packets(embedded)
    for fixture, label in some:
        packet = packets[fixture.fixture_id]
        held = {unit.unit_id for unit in packet.units}
        assert len(fixture.events) == packet.seq
        assert all(not held.isdisjoint(need.unit_ids) for need in label.needs)


def test_what_was_withdrawn_is_asked_for_without_generation(tmp_path):
    """Where the label's evidence was withdrawn, the pipeline itself asks for it at once."""
    fixture, label = next(
        pair for pair in DRAWN if pair[1].case_id == "witness_drop-14" and pair[1].tier == "short"
    )
    run_variant(FULL, [fixture], None, tmp_path, tokens_max=1)

    with open_log(tmp_path, FULL) as embedded:
        (output,) = embedded.outputs("repairs")

    act = read_output("repairs", output.record.value)
    assert (label.expected.value, "dimension clearance") == (act.act.value, act.detail)


def test_histories_and_labels_come_back_from_their_files(tmp_path):
    """Both files keep what was written, each by itself."""
    some = DRAWN[::90]
    write_histories(tmp_path / "h", (fixture for fixture, _ in some))
    write_labels(tmp_path / "l", (label for _, label in some))

    assert tuple(fixture for fixture, _ in some) == read_histories(tmp_path / "h")
    assert {label.fixture_id: label for _, label in some} == read_labels(tmp_path / "l")


def test_a_history_says_nothing_of_its_label(tmp_path):
    """The history file has fixture ids and bodies; expected acts and F* are in the other one."""
    write_histories(tmp_path / "h", [DRAWN[0][0]])

    line = json.loads((tmp_path / "h").read_text("utf-8"))
    assert {"fixture_id", "events"} == set(line)
