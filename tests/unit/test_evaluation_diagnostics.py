"""Diagnostics and report: what ablations claim, what payloads save, what the page shows."""

from dataclasses import replace

from infra.evaluation.diagnostics import CLAIMS, break_down, check_ablations, compare_payload
from infra.evaluation.plot import Point, draw_points
from infra.evaluation.report import render_report
from infra.evaluation.scoring import score
from infra.evaluation.tables import RunName, list_comparisons, list_metrics
from infra.evaluation.variants import ABLATIONS, GATED, NINE
from tests.labelled import LABELS, right_runs

ROWS = [score(run, label) for run, label in zip(right_runs(), LABELS, strict=True)]
RUN = RunName("r1", "simulated", simulated=True, seed=7)


def spoil(**changes):
    """Return rows of ten cases whose commitments are changed."""
    return [
        replace(row, case_id=f"c{number}", fixture_id=f"f{number}", **changes)
        for number, row in enumerate([ROWS[0]] * 10)
    ]


def test_nine_variants_two_gates_and_an_ablation_for_every_claim():
    """The names are one each, and each claim is about variants that exist."""
    names = [variant.name for variant in (*NINE, *GATED, *ABLATIONS)]

    assert (9, 2) == (len(NINE), len(GATED))
    assert len(set(names)) == len(names)
    assert {claim.ablation for claim in CLAIMS} | {claim.reference for claim in CLAIMS} <= set(
        names
    )


def test_an_ablation_hurts_only_if_its_interval_keeps_off_zero():
    """Worse in every case hurts; no difference does not."""
    whole = spoil(violated=False)
    hurt = {"cbea_lcv": whole, "no_validation": spoil(violated=True)}
    same = {"cbea_lcv": whole, "no_validation": whole}

    def read(grouped):
        return {row["metric"]: row["hurts"] for row in check_ablations(grouped)}

    assert read(hurt) == {"ohcvr": True, "ecf": False, "nfer": None}
    assert read(same) == {"ohcvr": False, "ecf": False, "nfer": None}


def test_payload_is_saved_against_long_context():
    """The share saved compares medians of the same fixtures."""
    rows = compare_payload({"long": {"long_context": [100, 200, 400], "cbea_lcv": [50, 50, 60]}})

    assert {"long_context": 0.0, "cbea_lcv": 0.75} == {row["variant"]: row["saved"] for row in rows}


def test_figures_are_broken_down_by_length_obligations_and_bucket():
    """Each way of breaking down counts every row once."""
    rows = break_down({"raw": ROWS})

    for by in ("history", "obligations", "bucket"):
        assert len(ROWS) == sum(row["attempted"] for row in rows if row["by"] == by)


def test_the_page_shows_every_variant_with_denominators_and_the_word_simulated():
    """Operating points, values with their counts, n/a where nothing is to be divided by."""
    empty = [replace(row, violated=None) for row in ROWS]
    grouped = {"oracle": ROWS, "cbea_lcv": empty}
    metrics = list_metrics(grouped)

    page = render_report(RUN, metrics, tuple(grouped), {"breakdown": break_down(grouped)}, ["note"])

    assert 2 == page.count("<circle")
    assert "<small>3/6</small>" in page
    assert "n/a" in page
    assert "<b>simulated</b>" in page
    assert "<script" not in page


def test_a_comparison_with_itself_is_zero():
    """Paired differences of equal rows are zero, with their reference named."""
    rows = list_comparisons({"cbea_lcv": ROWS, "raw": ROWS})

    assert {"cbea_lcv"} == {row["reference"] for row in rows}
    assert {0.0} == {row["difference"] for row in rows if row["difference"] is not None}


def test_labels_of_near_points_do_not_lie_on_each_other():
    """Two points at the same place have their names at different heights."""
    point = Point("a", 0.5, 0.1, "other", 0.4, 0.6, 0.0, 0.2)

    drawn = draw_points([point, replace(point, name="b")])

    heights = [part.split('y="')[1].split('"')[0] for part in drawn.split("<text")[-2:]]
    assert heights[0] != heights[1]
