"""Laws of placing a history among another number of partitions."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.placement import ControlOrderError, Left, fit_genesis, place_records, refit
from schemas.codec import frame, unframe
from schemas.event import Event, RulesetActivated, UserRefolded
from schemas.identity import record_key
from schemas.partition import partition_of
from streams.ports import LogRecord
from tests.talk import form
from tests.told_log import begin, event

USERS = [f"u{number}" for number in range(8)]
STEPS = st.lists(st.one_of(st.sampled_from(USERS), st.just("control")), max_size=40)


def _control(number):
    return replace(begin(), event_id=f"r{number}", payload=RulesetActivated(number))


def _record(one, offset, timestamp_ms=1):
    return LogRecord(offset, record_key(one.tenant, one.user), frame(one), timestamp_ms, ())


def _tell(steps, partitions):
    """Return the partitions of a log in which these steps happened, control records in each."""
    logs = [[] for _ in range(partitions)]
    for number, step in enumerate(steps):
        if step == "control":
            for place, log in enumerate(logs):
                log.append(_record(_control(number), len(log), number + place))
        else:
            one = replace(event(form(n=str(number)), f"e{number}"), user=step)
            log = logs[partition_of(record_key("t", step), partitions)]
            log.append(_record(one, len(log), number))
    return logs


def _place(logs, partitions, left=None):
    placed = [[] for _ in range(partitions)]
    for record, targets in place_records(logs, partitions=partitions, left=left or Left()):
        for target in targets:
            placed[target].append(record)
    return placed


def _see(logs, user):
    """Return what one user's fold sees of the log: own records and all control records."""
    own = logs[partition_of(record_key("t", user), len(logs))]
    keys = {record_key("t", user), record_key("", "")}
    return [record.value for record in own if record.key in keys]


@given(STEPS, st.integers(1, 5), st.integers(1, 5))
def test_each_user_sees_the_same_log_among_any_partitions(steps, before, after):
    """Own records and control records come in the same order, none lost, none twice."""
    logs = _tell(steps, before)
    left = Left()
    placed = _place(logs, after, left)

    assert [_see(logs, user) for user in USERS] == [_see(placed, user) for user in USERS]
    assert Left() == left
    controls = sum(step == "control" for step in steps)
    assert len(steps) - controls + controls * after == sum(map(len, placed))


@given(STEPS, st.integers(1, 5))
def test_there_and_back_gives_the_same_bytes(steps, partitions):
    """Moved and moved back, every partition holds what it held."""
    logs = _tell(steps, 3)
    back = _place(_place(logs, partitions), 3)

    def values(told):
        return [sorted(record.value for record in log) for log in told]

    assert values(logs) == values(back)


def test_what_a_retry_doubled_or_a_client_misplaced_is_left_and_counted():
    """A control record appended twice counts once; a rejected record stays in the old set."""
    logs = _tell(["control", "u1"], 2)
    logs[0].append(logs[0][0])
    stray = 1 - partition_of(record_key("t", "u2"), 2)
    logs[stray].append(_record(replace(event(form(), "e9"), user="u2"), 9))
    left = Left()

    placed = _place(logs, 1, left)

    assert 2 == len(placed[0])
    assert Left(repeated=1, misplaced=1) == left


def test_a_record_about_one_user_goes_with_that_user():
    """UserRefolded has the key of control records and stands in its user's partition alone."""
    refolded = replace(begin(), event_id="f", payload=UserRefolded("t", "u3"))
    logs = _tell(["control", "u3"], 2)
    home = partition_of(record_key("t", "u3"), 2)
    logs[home].append(_record(refolded, 9))

    placed = _place(logs, 5)

    assert frame(refolded) == placed[partition_of(record_key("t", "u3"), 5)][-1].value
    assert 1 == sum(record.value == frame(refolded) for log in placed for record in log)


@pytest.mark.parametrize("logs", [[[1], []], [[1, 2], [2, 1]]])
def test_partitions_that_tell_control_records_otherwise_are_refused(logs):
    """A record that is missing somewhere, or comes in another order, has no one place."""
    told = [[_record(_control(number), at) for at, number in enumerate(log)] for log in logs]

    with pytest.raises(ControlOrderError, match=r"Append it again"):
        _place(told, 4)


def test_only_genesis_is_written_anew_and_unsigned():
    """It names the partitions; everything else in it, and every other record, stays."""
    genesis = _record(replace(begin(), mac=b"m"), 0)
    other = _record(_control(1), 1)

    fitted = fit_genesis(genesis, partitions=7)
    assert fitted is not None
    assert (7, None) == (fitted.payload.partitions, fitted.mac)
    assert fitted == unframe(Event, refit(genesis, fitted).value)[0]
    assert None is fit_genesis(other, partitions=7)
