"""A quiet partition owes nothing: its silence counts from waiting input, not from a commit."""

from types import SimpleNamespace

import pytest

from streams.clock import SimulatedClock
from streams.lane import Lane
from streams.worker import STALL_S, Worker


class Left(Exception):  # noqa: N818 - it stands for the end of a process
    """The process would have ended."""


def watched(lane, clock):
    """Return a worker that has this lane and nothing else, and does not really end."""

    def leave(_code, reason):
        raise Left(reason)

    worker = Worker.__new__(Worker)
    worker.__dict__.update(
        _clock=clock,
        _lanes={0: lane},
        _exit_process=leave,
        _shown_ns=10**18,
        _counted_ns=10**18,
        _partitions=1,
        _partitions_now=1,
        _reader=SimpleNamespace(topic="events"),
    )
    return worker


def test_input_after_a_long_silence_is_no_stall():
    """A record that arrives when nothing was committed for long is folded, not fled from."""
    clock, lane = SimulatedClock(), Lane(0)
    worker = watched(lane, clock)
    worker._watch()
    clock.advance(int(10 * STALL_S * 1_000))
    worker._watch()
    lane.more = True

    worker._watch()
    clock.advance(int(STALL_S * 900))
    worker._watch()


def test_input_that_waits_for_long_ends_the_process():
    """Input that nobody folds for longer than a stall may last is given to another worker."""
    clock, lane = SimulatedClock(), Lane(0)
    worker = watched(lane, clock)
    worker._watch()
    lane.more = True
    clock.advance(int(STALL_S * 1_100))

    with pytest.raises(Left, match="input waits"):
        worker._watch()
