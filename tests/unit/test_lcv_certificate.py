"""The certificate of an outcome, and the failure of a turn (spec 6.3, 5.10)."""

from dataclasses import replace

import pytest

from processors.validation.certificate import digest_evidence, is_proven
from processors.validation.validation import abstain, fail
from schemas.codec import digest
from schemas.identity import outcome_id
from schemas.outcome import Act, PredicateVerdict, Reason, Verdict
from schemas.turn import FailureKind
from tests.lcv import ANSWER, basis, candidate, decided, judge, over, typed
from tests.situations import DIGEST, predicate, slot, unit

MEAL = typed("meal", slot("dish"))
RULE = predicate("P1", 'slots.dish != "hotpot"')


def told(**changes):
    """Return a situation with one promise, its unit, and another unit."""
    units = (
        unit("1#pP1", event_id="e1", predicate_id="P1", event_digest=bytes([7] * 32)),
        unit("4#0", event_id="e4"),
    )
    return over(RULE, types=(MEAL,), units=units, **changes)


def test_a_certificate_says_what_was_decided_on():
    """Positions, versions, digests, Z* and the regime stand in it."""
    given = told(chain=bytes([3] * 32))
    certificate = decided(given, candidate(dish="rice")).certificate

    assert (1, 9, 1, DIGEST) == (
        certificate.seq_from, certificate.seq_to, certificate.contract_version,
        certificate.contract_digest,
    )  # fmt: skip
    assert (("1#pP1", "4#0"), digest_evidence(given.units)) == (
        certificate.evidence_ids, certificate.evidence_digest
    )  # fmt: skip
    assert (1, given.regime.catalogue_digest, False, bytes([3] * 32)) == (
        certificate.ruleset, certificate.catalogue_digest, certificate.authenticated,
        certificate.chain,
    )  # fmt: skip


def test_a_certificate_names_the_events_it_rests_on():
    """Request, answer, Z* and the confirmations of h_t, each once, in log order."""
    given = told()
    rests_on = decided(given, candidate(dish="rice"), given=basis(given.units[1:])).certificate

    assert [("e1", 1), ("e4", 4), (ANSWER.event_id, 9)] == [
        (one.event_id, one.seq) for one in rests_on.rests_on
    ]
    assert bytes([7] * 32) == rests_on.rests_on[0].digest


def test_a_certificate_lists_every_candidate_with_every_verdict():
    """Rejected candidates are in it as the chosen one is, sorted by digest."""
    asked = [candidate(dish="rice"), candidate(dish="hotpot"), candidate("trip")]
    certificate = decided(told(), *asked).certificate

    assert sorted(digest(one) for one in asked) == [one.digest for one in certificate.candidates]
    assert all(
        ["P1"] == [verdict.predicate_id for verdict in one.verdicts]
        for one in certificate.candidates
    )


@pytest.mark.parametrize(
    "verdict", [Verdict.FAILS, Verdict.MISSING, Verdict.INVALID, Verdict.UNKNOWN]
)
def test_only_verdicts_that_hold_prove_a_report(verdict):
    """A report is proven by what is written in it, not by its counts."""
    (report,) = judge(told(), candidate(dish="rice"))
    forged = replace(report, verdicts=(PredicateVerdict("P1", 1, verdict, "", ()),))

    assert is_proven(report)
    assert not is_proven(forged)


def test_the_outcome_kinds_of_a_turn_share_one_id():
    """The id is the position, so two outcomes of one turn would show as a conflict."""
    given = told()
    expected = outcome_id(tenant="t", user="u", turn_id="turn", seq=9)
    failure = fail(given, basis(), kind=FailureKind.TIMEOUT, detail="60 s", attempts=())
    act = abstain(given, basis(), reason=Reason.OUTCOME_TOO_LARGE, detail="900,001 bytes")

    assert {expected} == {
        decided(given, candidate(dish="rice")).outcome_id, failure.outcome_id, act.outcome_id
    }  # fmt: skip
    assert (Act.ABSTAIN, Reason.OUTCOME_TOO_LARGE) == (act.act, act.reason)


def test_a_failure_counts_with_its_kind_and_carries_no_candidate():
    """A system failure is no repair act: it has a kind, attempts and a certificate."""
    failure = fail(told(), basis(), kind=FailureKind.PARTIAL_OUTPUT, detail="length", attempts=())

    assert (FailureKind.PARTIAL_OUTPUT, "length") == (failure.kind, failure.detail)
    assert () == failure.certificate.candidates
