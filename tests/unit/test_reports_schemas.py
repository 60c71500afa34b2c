"""Public fault reports of Avro libraries, held against this vocabulary and its one codec.

Where a report shows a library's own fault, the same kind of datum is written here.
"""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from schemas.agreement import PredicateConfirmed, PredicateRevoked, ProposalDeclined
from schemas.candidate import SlotValue
from schemas.catalogue import Authority
from schemas.codec import DecodeError, decode, encode, frame, schema_text
from schemas.event import Event, Principal, PrincipalKind
from schemas.fate import Fate, FateStatus
from schemas.observation import (
    ErasureRequested,
    FormSubmitted,
    ObservationWithdrawn,
    UtteranceOrigin,
)
from schemas.packet import UnitTerms
from schemas.predicate import Predicate, PredicateScope
from schemas.record import RecordError
from schemas.value import Money, RecordValue, StringSet, Timestamp
from tests.hostile_records import said
from tests.kitchen import started
from tests.plain_fold import fold_plainly, number_events
from tests.talk import form

ROOT = Path(__file__).parent.parent.parent


def carry(value):
    """Return a value after its way through bytes."""
    return decode(SlotValue, encode(SlotValue("x", value))).value


TWINS = [
    ObservationWithdrawn(("e1",)),
    ErasureRequested(("e1",)),
    PredicateConfirmed(bytes(32), None, ()),
    ProposalDeclined(bytes(32)),
    PredicateRevoked("p"),
    FormSubmitted(None, (), ()),
]


@pytest.mark.parametrize("payload", TWINS, ids=lambda one: type(one).__name__)
def test_r61_a_union_keeps_the_branch_that_was_meant(payload):
    """R61: payloads that share their fields come back as what they were, never as a twin."""
    event = decode(Event, encode(said(payload)))

    assert (type(payload), payload) == (type(event.payload), event.payload)


def test_r61_a_branch_without_a_name_is_refused():
    """R61: a mapping in place of a record fits several branches; it is written as none."""
    with pytest.raises(RecordError, match="dict is none of"):
        encode(said({"event_ids": ["e1"]}))


@pytest.mark.parametrize(
    "value", [1, True, "1", Decimal(1), Timestamp(1), Money(Decimal(1), "EUR")]
)
def test_r61_a_value_keeps_its_type(value):
    """R61: of the branches of a typed value each is named; 1 never becomes true or a text."""
    assert (type(value), value) == (type(carry(value)), carry(value))


def test_r61_an_exception_of_a_rule_is_never_dropped():
    """R61: the nullable exception survives, null and given."""
    for unless in (None, 'slots.role == "carer"'):
        rule = Predicate(
            "p", "slots.a == 1", unless, (), "", PredicateScope.STANDING, None, None, (), None
        )
        assert unless == decode(Predicate, encode(rule)).unless


def test_r62_a_missing_field_is_no_null():
    """R62: a nullable field must be given; a misspelt one is refused by name."""
    with pytest.raises(TypeError, match="id"):
        Principal(PrincipalKind.USER)
    with pytest.raises(TypeError, match="confirmd_by"):
        Principal(PrincipalKind.USER, confirmd_by="u")
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        PredicateConfirmed(None, None)


def test_r62_no_confirmation_without_subject_enters_the_contract():
    """R62: a confirmation that names nothing is rejected, not taken for a null."""
    step = started().tell(PredicateConfirmed(None, None, ()))

    assert "schema_violation" == step.fate.reason.value


ENUMS = (Authority, FateStatus, PrincipalKind, PredicateScope, UtteranceOrigin)


@pytest.mark.parametrize("enum", ENUMS, ids=lambda one: one.__name__)
def test_r64_an_unknown_symbol_never_acts(enum):
    """R64: the default of every enum is ``unknown``, its first symbol."""
    assert "unknown" == next(iter(enum)).value


def test_r64_an_operation_from_a_later_release_is_quarantined():
    """R64: what is unknown here is rejected as unknown_operation and changes nothing."""
    talk = started()
    before = dict(talk.view().own)
    step = talk.tell(form(diet="vegan"), by=Principal(PrincipalKind.UNKNOWN, "later"))

    assert ("unknown_operation", {}) == (step.fate.reason.value, step.changes)
    assert before == talk.view().own


def test_r64_a_schema_that_does_not_resolve_is_quarantined():
    """R64: bytes of a writer whose schema has no way to today's are unresolvable."""
    writer = {
        "type": "record", "name": "commitments.v1.PredicateRevoked",
        "fields": [{"name": "predicate_id", "type": {"type": "map", "values": "long"}}],
    }  # fmt: skip
    with pytest.raises(DecodeError) as refused:
        decode(PredicateRevoked, b"\x00", writer)

    assert "unresolvable" == refused.value.reason


TOKYO = timezone(timedelta(hours=9))
CHINA = timezone(timedelta(hours=8))


def test_r65_an_instant_is_what_its_offset_says_on_every_machine():
    """R65: the machine's zone changes no byte; an aware time is an instant, once and for all."""
    code = (
        "from datetime import datetime;"
        "from schemas.codec import encode; from schemas.candidate import SlotValue;"
        "from schemas.value import Timestamp; from schemas.value_json import parse_json;"
        "at = datetime.fromisoformat('2026-02-10T23:30:00+08:00');"
        "ms = int(at.timestamp() * 1000); print(ms, encode(SlotValue('x', Timestamp(ms))).hex(),"
        "encode(SlotValue('x', parse_json('{\"$local\":\"2026-02-10T23:30\"}'))).hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TZ": zone, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for zone in ("UTC", "Asia/Shanghai", "America/St_Johns")
    }

    (line,) = found
    assert "1770737400000" == line.split()[0]


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 2, 10, 23, 30, tzinfo=UTC),
        datetime(2026, 2, 10, 23, 30, tzinfo=CHINA),
        time(23, 30, tzinfo=TOKYO),
        (datetime(2026, 2, 10, 23, 30, tzinfo=CHINA),),
        time(1, 2, 3, 4),
    ],
)
def test_r65_a_zone_is_never_dropped_in_silence(value):
    """R65: a local time has no zone; one that carries a zone is refused, nothing is cut off."""
    with pytest.raises(RecordError):
        encode(SlotValue("x", value))


def test_r65_an_event_without_zone_or_offset_is_rejected():
    """R65: a time of which nobody knows where it was read is no time."""
    event = said(FormSubmitted(None, (), ()), utc_offset_min=None)
    plain = fold_plainly(number_events([*started().events, event]))

    assert "time_without_zone" == decode(Fate, plain.fates[-1]).reason.value


NUMBERS = (True, False, 2**63, -(2**63) - 1, 3.0, "3", None, Decimal(3))


@pytest.mark.parametrize("value", NUMBERS)
def test_r67_only_whole_numbers_in_range_are_written_as_such(value):
    """R67: truth values, fractions, texts and numbers beyond the type are refused by name."""
    terms = UnitTerms("1#0", 1, 2, 3, 4, 5, 6, 7)
    assert terms == decode(UnitTerms, encode(terms))
    fields = {name: getattr(terms, name) for name in UnitTerms.__slots__}
    with pytest.raises(RecordError, match=r"UnitTerms\.cost"):
        encode(UnitTerms(**{**fields, "cost": value}))


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 0, 2**31, -(2**31) - 1])
def test_r67_the_ends_of_the_range_survive(value):
    """R67: every 64-bit number comes back as it was."""
    assert value == carry(value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 1.5, 3.0, b"3", {"a": 1}, {1}])
def test_r67_what_is_no_typed_value_is_refused(value):
    """R67: nothing is turned into the nearest value that would fit, alone or in a list."""
    for carried in (value, (value,), RecordValue((("a", value),))):
        with pytest.raises(RecordError):
            encode(SlotValue("x", carried))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1234.50", "1234.50"),
        ("0.00", "0.00"),
        ("-0", "0"),
        ("-0.00", "0.00"),
        ("1E+3", "1000"),
        ("9" * 38, "9" * 38),
        ("0." + "1" * 37, "0." + "1" * 37),
    ],
)
def test_r68_a_decimal_is_written_digit_by_digit(text, written):
    """R68: neither digits nor scale are lost; zero has no sign."""
    assert written == str(carry(Decimal(text)))
    assert Money(Decimal(written), "EUR") == carry(Money(Decimal(text), "EUR"))


@pytest.mark.parametrize(
    "text", ["9" * 39, "1E+38", "1E-39", "0." + "1" * 39, "NaN", "sNaN", "Infinity", "-Infinity"]
)
def test_r68_what_does_not_fit_is_refused_and_never_rounded(text):
    """R68: more than 38 digits and no-numbers are refused when written, inside lists too."""
    for value in (Decimal(text), Money(Decimal(text), "EUR"), (Decimal(text),)):
        with pytest.raises(RecordError):
            encode(SlotValue("x", value))


@pytest.mark.parametrize(
    "value",
    [
        StringSet(("b", "a")),
        StringSet(("a", "a")),
        RecordValue((("a", 1), ("a", 2))),
        RecordValue((("$date", "2026-01-01"),)),
        RecordValue((("", 1),)),
        Money(Decimal(1), "eur"),
        Money(Decimal(1), "EURO"),
        "\ud800",
        (((((((((("deep",),),),),),),),),),),
    ],
)
def test_r68_whatever_could_not_be_read_again_is_not_written(value):
    """R68: the writer refuses what its reader would refuse or change."""
    with pytest.raises(RecordError):
        encode(SlotValue("x", value))


def test_the_published_text_names_every_branch():
    """R61: each branch of a union has a name of its own, so that it can be named at all."""
    assert len(TWINS) == len({type(one).__name__ for one in TWINS})
    assert all(f'"commitments.v1.{type(one).__name__}"' in schema_text(Event) for one in TWINS)
    assert date(2026, 2, 3) == carry(date(2026, 2, 3))
    assert frame(said(TWINS[0])) != frame(said(TWINS[1]))
