"""The oracle's rows: the label's own outcome, a reference point that no runtime produces."""

from infra.evaluation.fixture import Expected, Label
from infra.evaluation.observing import COMMITMENT, REPAIR, Run
from schemas.candidate import SlotValue
from schemas.value import build_record

ORACLE = "oracle"


def build_oracle_run(label: Label) -> Run:
    """Return the label's outcome as a run: the first offer of F* with all of E*, or the act."""
    commits = label.expected is Expected.COMMIT
    needed = (*label.needs, *label.obligations)
    cited = dict.fromkeys(
        (*label.witnesses, *(need.unit_ids[0] for need in needed if need.unit_ids))
    )
    return Run(
        variant=ORACLE,
        fixture_id=label.fixture_id,
        turn_id="",
        kind=COMMITMENT if commits else REPAIR,
        act="" if commits else label.expected.value,
        reason="",
        slots=_carry(label) if commits else (),
        cited=tuple(cited) if commits else (),
        shown=tuple(cited),
        cost=0,
        generated=False,
        mismatches=0,
        log="",
        topic="labels",
        offset=-1,
        outcome_id="",
        packet_digest="",
        contract_digest="",
        evidence_digest="",
        certificate="",
    )


def _carry(label: Label) -> tuple[SlotValue, ...]:
    terms = label.feasible[0]
    offer = build_record(name=terms.name, price=terms.price, features=terms.features)
    return (
        SlotValue("day", label.day),
        SlotValue("offer", offer),
        SlotValue("party", label.party),
        SlotValue("purpose", label.purpose),
    )
