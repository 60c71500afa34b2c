"""Hand-made labels with known answers, and runs made by hand against them."""

from dataclasses import replace

from infra.evaluation.fixture import (
    Bucket,
    Check,
    Expected,
    Label,
    Need,
    Relation,
    Terms,
)
from infra.evaluation.reference import build_oracle_run

CAP = Check("cap", "offer.price", Relation.AT_MOST, 100, (), "")
BAN = Check("ban", "offer.features", Relation.NONE_OF, 0, ("nuts",), "")


def label(name, expected=Expected.COMMIT, **changes):
    """Return a label whose right commitment is Elm at 90; 1#0 and 2#0 both have clearance."""
    plain = Label(
        fixture_id=name,
        case_id=name.partition("-")[0],
        bucket=Bucket.WITNESS_DROP,
        domain="venue",
        tier="short",
        history_events=12,
        expected=expected,
        checks=(CAP, BAN),
        needs=(Need("clearance", ("1#0", "2#0")), Need("quote", ("3#0", "4#0"))),
        witnesses=("1#0",),
        obligations=(Need("key", ("5#0",)),),
        feasible=(Terms("Elm", 90, ("stage",)),),
        day="monday",
        party=4,
        purpose="recital",
        uncompiled=("6#0",),
        intrusive=("7#0",),
    )
    return replace(plain, **changes)


LABELS = (
    label("a-1"),
    label("a-2"),
    label("b-1"),
    label("c-1", Expected.CLARIFY, feasible=(), day=""),
    label("d-1", Expected.RECONTRACT),
    label("e-1", Expected.ABSTAIN, feasible=()),
)
"""Three fixtures to commit in, three to repair, of which two have an empty F*."""


def right_runs():
    """Return the runs of a runtime that does everything right."""
    return [build_oracle_run(one) for one in LABELS]


def by_name(runs):
    """Return runs by fixture."""
    return {run.fixture_id: run for run in runs}
