"""The local copy of a partition's rows: a restore that fails leaves nothing in the way."""

from types import SimpleNamespace

import pytest

from streams.clock import SimulatedClock
from streams.failures import StoreUnavailableError
from streams.kafka_rows import TopicHead, open_cache, restore
from streams.ports import LogBounds
from streams.position import begin

NOW_MS = 1_700_000_000_000


class LostTopic:
    """A topic of rows whose broker goes away while it is read."""

    topic, partition = "rows", 0

    def __init__(self):
        self.clock = SimulatedClock(start_ms=NOW_MS)

    def bounds(self):
        return LogBounds(0, 1)

    def read(self, _first):
        raise StoreUnavailableError("the broker does not answer")


def make_head():
    """Return the head row of an empty partition."""
    return TopicHead(begin(SimpleNamespace(identity=b"i"), SimpleNamespace(version="core")), "id")


@pytest.mark.parametrize("kept", [True, False])
def test_a_restore_that_fails_gives_its_copy_back(tmp_path, kept):
    """The broker's failure is told, and the next start finds the copy free, not locked by us."""
    folder = tmp_path / "0"
    if kept:
        cache = open_cache(folder)
        cache.write([], position=0, stamp_ms=NOW_MS)
        cache.close()

    with pytest.raises(StoreUnavailableError, match="does not answer") as held:
        restore(folder, LostTopic(), make_head(), lambda _read, _ahead: None)

    open_cache(folder).close()
    assert held.value is not None
