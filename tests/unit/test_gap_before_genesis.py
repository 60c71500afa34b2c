"""A log that lost its beginning, genesis included, and was begun again behind the gap."""

from dataclasses import replace

from schemas.event import HistoryAttested
from schemas.outcome import Act, Commitment, Reason, RepairAct
from tests.conversation import OPERATOR
from tests.told_log import TURN, KeptLog, begin, event, fold, log_of, read


def _begun_again(*after):
    """Return the store of a log that lost [0, 3) and has a genesis record at its new start."""
    records = log_of(begin(), *TURN[:2], begin(), *after)
    return fold(records, log=KeptLog(records, 3))


def test_nobody_commits_behind_a_gap_that_took_the_genesis_record():
    """Spec 1.8: users first seen behind the gap are incomplete too, whatever begins the log."""
    store = _begun_again(*TURN[:3])
    (act,) = read(store, "repairs", RepairAct)

    assert (Act.ABSTAIN, Reason.HISTORY_INCOMPLETE) == (act.act, act.reason)
    assert [] == read(store, "commitments", Commitment)


def test_an_operator_may_vouch_for_what_was_lost_before_genesis():
    """Attested, the history counts as whole, as behind any other gap."""
    attested = replace(
        event(HistoryAttested(None, None), "a1"), tenant="", user="", principal=OPERATOR
    )
    store = _begun_again(attested, *TURN[:3])

    assert 1 == len(read(store, "commitments", Commitment))
