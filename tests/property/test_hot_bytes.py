"""The bodies put together by hand against the codec."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.codec import encode
from schemas.event import Event
from schemas.fate import Fate, FateStatus, RejectionReason
from schemas.hot_bytes import encode_accepted, encode_event_row, encode_seen
from schemas.row import EventRow, SeenRow
from tests.strategies import int64, records

digests = st.binary(min_size=32, max_size=32)


@given(digests, int64, int64)
def test_a_seen_row_has_the_codecs_bytes(digest, seq, effective_ms):
    """The id of an event is stored as the codec would store it."""
    row = SeenRow(digest, seq, effective_ms)

    assert encode(row) == encode_seen(row)


@given(int64, st.text(max_size=80))
def test_a_plain_fate_has_the_codecs_bytes(seq, detail):
    """The fate of an accepted event is written as the codec would write it."""
    fate = Fate(FateStatus.ACCEPTED, seq, None, detail, "")

    assert encode(fate) == encode_accepted(fate)


def test_a_fate_that_says_more_is_left_to_the_codec():
    """Nothing but a plain accepted fate is put together by hand."""
    told = Fate(FateStatus.ACCEPTED, 1, None, "", "turn_ended")
    refused = Fate(FateStatus.REJECTED, None, RejectionReason.TOO_LARGE, "", "")

    assert [None, None] == [encode_accepted(told), encode_accepted(refused)]


@given(digests, int64, records(Event))
def test_an_event_row_ends_in_the_events_own_bytes(digest, effective_ms, event):
    """Storing an observation encodes nothing, and gives the codec's bytes all the same."""
    row = EventRow(digest, effective_ms, event)

    assert encode(row) == encode_event_row(row, encode(event))
