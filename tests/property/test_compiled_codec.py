"""The generated readers and writers against the Avro library: never another record or byte."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from schemas import codec
from schemas.codec import DecodeError, RecordError, decode, encode
from schemas.event import Event
from schemas.history_row import OrderRow, SlotRow, UserHead
from schemas.record import compile_building
from schemas.record_reading import compile_reading
from schemas.record_writing import compile_writing
from tests.strategies import records
from tests.write_schemas import PUBLISHED

relaxed = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def by_library(record_class, body):
    """Return what the library makes of bytes: a record, or the words of its refusal."""
    try:
        return codec._decode_any(record_class, body, None)
    except DecodeError as refused:
        return str(refused)


def by_codec(record_class, body):
    try:
        return decode(record_class, body)
    except DecodeError as refused:
        return str(refused)


@pytest.mark.parametrize("record_class", PUBLISHED, ids=lambda cls: cls.__name__)
def test_both_ways_give_the_library_s_result(record_class):
    """What the generated functions write and read is what the library writes and reads."""

    @relaxed
    @given(records(record_class))
    def law(record):
        body = compile_writing(record_class)(record)

        assert codec._encode_checked(record_class, record) == body
        assert (by_library(record_class, body), len(body)) == compile_reading(record_class)(body, 0)

    law()


@pytest.mark.parametrize("record_class", [Event, SlotRow, UserHead], ids=lambda cls: cls.__name__)
def test_altered_bytes_are_judged_by_the_library(record_class):
    """Whatever is cut out, put in or flipped: same record or same refusal as the library's."""

    @settings(relaxed, max_examples=100)
    @given(records(record_class), st.data())
    def law(record, data):
        body = encode(record)
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, min(len(body), start + 3)))
        altered = body[:start] + data.draw(st.binary(max_size=3)) + body[end:]

        assert by_library(record_class, altered) == by_codec(record_class, altered)

    law()


@given(st.binary(max_size=60))
@example(b"\xff" * 60)
@example(b"\x80" * 60)
def test_any_bytes_are_judged_by_the_library(body):
    """Bytes of any kind give the library's answer."""
    assert by_library(Event, body) == by_codec(Event, body)


def test_a_number_may_be_written_longer_than_needed():
    """Padded numbers and arrays in several blocks are Avro, and read as the library reads them."""
    order = OrderRow(("a", "b"), 0)
    body = encode(order)
    plain = b"\x04\x02a\x02b\0"
    for other in (b"\x02\x02a\x02\x02b\0", b"\x03\x08\x02a\x02\x02b\0", b"\x84\x80\0\x02a\x02b\0"):
        altered = body.replace(plain, other)

        assert by_library(OrderRow, altered) == by_codec(OrderRow, altered)
    assert order == by_codec(OrderRow, body.replace(plain, b"\x02\x02a\x02\x02b\0"))


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("seq", "1"), ("seq", True), ("seq", 2**63), ("chain", "x"), ("recent_ids", 1),
     ("recent_ids", "\ud800"), ("halted", 1), ("halted", None)],
)  # fmt: skip
def test_a_wrong_field_is_named(field, wrong):
    """A field of another type than declared is refused by name, whichever way writes it."""
    right = dict.fromkeys(UserHead.__slots__, 0)
    right |= {"chain": b"", "text_places": b"", "recent_ids": "", "halted": False}
    encode(UserHead(**right))

    with pytest.raises(RecordError, match="UserHead" if field != "seq" else "UserHead.seq"):
        encode(UserHead(**right | {field: wrong}))


@pytest.mark.parametrize("wrong", [(1,), ("\ud800",)])
def test_a_wrong_item_is_refused(wrong):
    """An item of another type than declared is refused too."""
    with pytest.raises(RecordError, match="OrderRow"):
        encode(OrderRow(wrong, 0))


def test_a_built_record_is_the_constructed_one():
    """Building by position gives the same frozen record as the constructor."""
    built = compile_building(SlotRow)("", "city", "Bonn", None, "e1", 1, 2, None, ())

    assert SlotRow("", "city", "Bonn", None, "e1", 1, 2, None, ()) == built
    assert type(built) is SlotRow
    with pytest.raises(AttributeError):
        built.slot = "other"
