"""Laws of whole histories: whatever is told, each turn ends once and stays within its bounds."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.fate import FateStatus, RejectionReason
from schemas.outcome import Commitment, RepairAct
from schemas.packet import BudgetPart, Packet, Uncovered
from schemas.row import DeadlineRow, PendingRow, PredicateRow, TurnRow, UserHead
from schemas.turn import TurnExpired
from tests.conversation import CLOCK, GENERATOR
from tests.random_history import digest_history, tell_history

ROOT = Path(__file__).parent.parent.parent
HALT = {(UserHead, "")}
histories = st.integers(0, 10**6).map(tell_history)
few = settings(max_examples=10, deadline=None)


@few
@given(histories)
def test_every_turn_ends_in_exactly_one_outcome(told):
    """A turn is pending or has one outcome; once all deadlines pass, every turn has one."""
    before = Counter(outcome.turn_id for outcome in told.outcomes())
    pending = [row_id for row_id, _ in told.view().scan(PendingRow)]

    for turn_id in (*pending, *before):
        told.tell(TurnExpired(turn_id), by=CLOCK)
    after = Counter(outcome.turn_id for outcome in told.outcomes())

    assert set() == set(before) & set(pending)
    assert set(before) | set(pending) == set(after) == {i for i, _ in told.view().scan(TurnRow)}
    assert {1} >= set(after.values())
    assert [] == told.view().scan(PendingRow) == told.view().scan(DeadlineRow)
    assert 0 == told.head().pending_turns


@few
@given(histories)
def test_a_pending_turn_is_counted_and_has_a_deadline(told):
    """The head's count, the pending rows and the deadlines are the same turns."""
    pending = [row_id for row_id, _ in told.view().scan(PendingRow)]
    deadlines = [row.turn_id for _, row in told.view().scan(DeadlineRow)]

    assert len(pending) == told.head().pending_turns
    assert pending == sorted(deadlines)


@few
@given(histories)
def test_accepted_events_are_numbered_without_a_gap(told):
    """seq counts the accepted events; all others change nothing, but that a fault halts."""
    accepted = [s.fate for s in told.steps if s.fate.status is FateStatus.ACCEPTED]
    numbers = [fate.seq for fate in accepted if fate.seq is not None]

    assert not any(
        step.changes
        for step in told.steps
        if step.fate.reason not in {None, RejectionReason.CORE_FAULT}
    )
    assert list(range(1, len(numbers) + 1)) == numbers
    assert all(
        step.fate.seq is None and not step.outputs and set(step.changes) <= HALT
        for step in told.steps
        if step.fate.status is not FateStatus.ACCEPTED
    )


@few
@given(histories)
def test_a_packet_stays_within_its_budgets_and_its_bound(told):
    """Both budgets hold what they hold, and the proven bound is never below J."""
    for packet in told.outputs:
        if not isinstance(packet, Packet):
            continue
        terms = dict(zip(packet.units, packet.terms, strict=True))
        spent = {
            part: sum(term.cost for unit, term in terms.items() if unit.part is part)
            for part in (BudgetPart.MAIN, BudgetPart.TAIL)
        }

        assert spent == {
            BudgetPart.MAIN: packet.cost_main,
            BudgetPart.TAIL: packet.cost_tail,
        }
        assert packet.cost_main <= packet.budget_main
        assert packet.cost_tail <= packet.budget_tail
        assert all(unit.tail_witness for unit in terms if unit.part is BudgetPart.TAIL)
        assert packet.bound - packet.objective == packet.gap >= 0
        assert packet.objective == sum(term.gain for term in packet.terms)


@few
@given(histories)
def test_a_commitment_is_proven_by_its_own_certificate(told):
    """The committed candidate is supported, meets all, and every applicable predicate holds."""
    for outcome in told.outputs:
        if not isinstance(outcome, Commitment):
            continue
        reports = {report.digest: report for report in outcome.certificate.candidates}
        chosen = reports[outcome.candidate_digest]

        assert ((), 0, (), 0) == (
            chosen.unsupported,
            chosen.violations,
            chosen.unmet,
            chosen.infeasible,
        )
        assert {"holds"} >= {verdict.verdict.value for verdict in chosen.verdicts}


@few
@given(histories)
def test_what_a_model_sends_confirms_nothing(told):
    """No predicate in force was confirmed by a generator, an assistant or a tool (spec 1.10)."""
    kinds = {row.principal_kind.value for _, row in told.view().scan(PredicateRow)}

    assert kinds <= {"user", "operator"}
    assert not any(row.principal_id == GENERATOR.id for _, row in told.view().scan(PredicateRow))


@few
@given(histories)
def test_coverage_names_each_requirement_once(told):
    """R_t in a packet or an outcome is sorted, free of duplicates, and covered or explained."""
    for output in told.outputs:
        coverage = ()
        if isinstance(output, Packet):
            coverage = output.coverage
        elif isinstance(output, RepairAct | Commitment):
            coverage = output.certificate.coverage
        keys = [(one.requirement.kind, one.requirement.argument) for one in coverage]

        assert sorted(set(keys)) == keys
        assert all(
            bool(one.unit_ids) == (one.status is not Uncovered.NO_UNIT)
            for one in coverage
            if one.status is not Uncovered.COVERED
        )


def test_two_hash_seeds_give_the_same_bytes():
    """Fates, outputs and rows do not depend on the interpreter's hash seed."""
    code = (
        "from tests.random_history import digest_history;"
        "print(*[digest_history(seed) for seed in range(8)])"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]

    assert found[0] == found[1]
    assert found[0][0] == digest_history(0)
