"""Records that nobody should send, by name, each with the reason for which it is rejected.

A hostile record is (key, value); the builders speak for the user ``m`` of the tenant ``t``.
"""

from dataclasses import replace

from schemas.agreement import PredicateConfirmed, ProposalDeclined
from schemas.catalogue import Catalogue
from schemas.codec import MARKER, encode, frame
from schemas.control import CatalogueActivated
from schemas.event import Event, Principal, PrincipalKind
from schemas.identity import record_key
from schemas.observation import EvidenceRecorded, FormSubmitted, SlotStatement
from schemas.turn import CandidatesProposed, TurnCancelled
from tests.conversation import GENERATOR, OPERATOR, START_MS, USER
from tests.given import unit
from tests.situations import predicate, request

LIMIT = 262_144
KEY = record_key("t", "m")


def said(payload, event_id="h", **changes):
    """Return an event of the user ``m``."""
    plain = Event(
        event_id, "t", "m", START_MS, 0, None, USER, None, None, None, (), None, None, payload
    )
    return replace(plain, **changes)


def stated(value, slot="diet"):
    """Return a form with one statement."""
    return FormSubmitted(None, (SlotStatement("", slot, value, None, None),), ())


def confirmed(expression, **changes):
    """Return the confirmation of a predicate."""
    return PredicateConfirmed(None, predicate("p", expression, **changes), ())


FORM = said(stated("vegan"))
BODY = encode(FORM)
FRAMED = frame(FORM)


def swap(old, new, value=None):
    """Return the frame of a form whose text value has other bytes of the same length."""
    assert len(old) == len(new)
    framed = frame(said(stated(value)))
    assert framed.count(old) == 1
    return framed.replace(old, new)


def in_list(text):
    """Return the frame of a form whose list value is this JSON text instead."""
    placeholder = "x" * (len(text) - 4)
    return swap(f'["{placeholder}"]'.encode(), text.encode(), (placeholder,))


def padded(length):
    """Return the frame of a form, as long as told."""
    free = length - len(frame(said(stated(""))))
    framed = b""
    while len(framed) != length:
        framed = frame(said(stated("x" * free)))
        free -= len(framed) - length
    return framed


def bare(key=KEY, value=FRAMED):
    """Return a record of these bytes."""
    return key, value


def sent(payload, **changes):
    """Return the record of an event."""
    event = said(payload, **changes)
    return record_key(event.tenant, event.user), frame(event)


MISSING = {
    "null key": (bare(None), "missing_key"),
    "empty key": (bare(b""), "missing_key"),
    "null key, null value": (bare(None, None), "missing_key"),
    "null value": (bare(value=None), "null_value"),
    "empty value": (bare(value=b""), "empty_value"),
}
FRAMES = {
    "ASCII zero": (bare(value=bytes.fromhex("300a6d616e676f")), "bad_magic"),
    "a zero byte and an id of eight": (bare(value=bytes(9) + BODY), "bad_magic"),
    "a registry's frame": (bare(value=bytes.fromhex("0000001092") + BODY), "bad_magic"),
    "bare Avro": (bare(value=BODY), "bad_magic"),
    "JSON": (bare(value=b'{"slot":"seat"}'), "bad_magic"),
    "half a marker": (bare(value=MARKER[:1]), "bad_magic"),
    "a marker alone": (bare(value=FRAMED[:9]), "bad_magic"),
    "another schema": (bare(value=MARKER + bytes(8) + BODY), "unknown_schema_id"),
    "another record": (bare(value=frame(Principal(PrincipalKind.USER, "u"))), "unknown_schema_id"),
}
BODIES = {
    "no body": (bare(value=FRAMED[:10]), "schema_violation"),
    "half a body": (bare(value=FRAMED[:-4]), "schema_violation"),
    "bytes too many": (bare(value=FRAMED + b"\0"), "schema_violation"),
    "two bodies": (bare(value=FRAMED + BODY), "schema_violation"),
    "a text that is no UTF-8": (bare(value=FRAMED.replace(b"vegan", b"\xff\xfe\xc0\x80\xed")),
                                "schema_violation"),
    "a length of 2^63": (bare(value=FRAMED[:10] + b"\xff" * 9 + b"\x01"), "schema_violation"),
    "a negative length": (bare(value=FRAMED[:10] + b"\x01" + BODY), "schema_violation"),
    "a varint without end": (bare(value=FRAMED[:10] + b"\xff" * 4_000), "schema_violation"),
    "noise": (bare(value=FRAMED[:10] + bytes(range(256)) * 8), "schema_violation"),
}  # fmt: skip
SIZES = {
    "one byte too many": (bare(value=padded(LIMIT + 1)), "too_large"),
    "20 MB of text": (bare(value=FRAMED + b"x" * 20_000_000), "too_large"),
    "20 MB of zeros": (bare(value=bytes(20_000_000)), "too_large"),
    "the largest": (bare(value=padded(LIMIT)), None),
}
VALUES = {
    "nested 2,000 deep": (bare(value=in_list("[" * 2_000 + "]" * 2_000)), "schema_violation"),
    "nested 100,000 deep": (bare(value=in_list("[" * 100_000 + "]" * 100_000)), "schema_violation"),
    "nine deep": (bare(value=in_list("[" * 10 + "]" * 10)), "schema_violation"),
    "NaN in a list": (bare(value=in_list("[NaN  ]")), "schema_violation"),
    "Infinity in a list": (bare(value=in_list("[-Infinity]")), "schema_violation"),
    "a fraction in a list": (bare(value=in_list("[0.1,0.2]")), "schema_violation"),
    "an exponent in a list": (bare(value=in_list("[1e999]")), "schema_violation"),
    "ten thousand digits": (bare(value=in_list(f"[{'9' * 10_000}]")), "schema_violation"),
    "a key twice": (bare(value=in_list('{"a":1,"a":2}')), "schema_violation"),
    "a key twice inside": (bare(value=in_list('[{"b":{"a":1,"a":2}}]')), "schema_violation"),
    "a lone surrogate": (bare(value=in_list('["\\ud800"]')), "schema_violation"),
    "a list without end": (bare(value=in_list('["a", "b"')), "schema_violation"),
    "a trailing comma": (bare(value=in_list('["abc",]')), "schema_violation"),
}
ENVELOPES = {
    "another tenant's key": (bare(record_key("s", "m")), "key_user_mismatch"),
    "another user's key": (bare(record_key("t", "M")), "key_user_mismatch"),
    "a key that runs together": (bare(record_key("tm", "")), "key_user_mismatch"),
    "a key of other bytes": (bare(b"t/m"), "key_user_mismatch"),
    "no user": (sent(stated("v"), user=""), "schema_violation"),
    "no tenant": (sent(stated("v"), tenant=""), "schema_violation"),
    "NUL in the id": (sent(stated("v"), event_id="a\0b"), "schema_violation"),
    "no id": (sent(stated("v"), event_id=""), "schema_violation"),
    "an endless id": (sent(stated("v"), event_id="x" * 100_000), "schema_violation"),
    "an unknown sender": (
        sent(stated("v"), principal=Principal(PrincipalKind.UNKNOWN, "x")), "unknown_operation"
    ),
    "no zone": (sent(stated("v"), utc_offset_min=None), "time_without_zone"),
    "a zone that is a path": (sent(stated("v"), zone="../../etc/passwd"), "time_without_zone"),
    "an absolute zone": (sent(stated("v"), zone="/etc/localtime"), "time_without_zone"),
    "a zone with NUL": (sent(stated("v"), zone="Europe/\0Paris"), "time_without_zone"),
    "an endless zone": (sent(stated("v"), zone="Europe/" * 20_000), "time_without_zone"),
    "an offset of years": (sent(stated("v"), utc_offset_min=2**62), "schema_violation"),
    "the end of time": (sent(stated("v"), occurred_at_ms=2**63 - 1), "time_ahead"),
    "the beginning of time": (sent(stated("v"), occurred_at_ms=-(2**63)), "schema_violation"),
    "time zero": (sent(stated("v"), occurred_at_ms=0), "schema_violation"),
    "a source without number": (sent(stated("v"), source="s"), "schema_violation"),
    "a number without source": (sent(stated("v"), source_seq=1), "schema_violation"),
}  # fmt: skip
PAYLOADS = {
    "a control record of a user": (
        sent(CatalogueActivated(Catalogue("c", (), (), (), ())), tenant="", user=""),
        "not_permitted",
    ),
    "a control record of another operator": (
        sent(
            CatalogueActivated(Catalogue("c", (), (), (), ())),
            tenant="", user="", principal=replace(OPERATOR, id="other"),
        ),
        "not_permitted",
    ),
    "a model that confirms": (
        sent(confirmed("slots.diet == 1"), principal=GENERATOR), "not_permitted"
    ),
    "an operator without the right": (
        sent(confirmed("slots.diet == 1"), principal=replace(OPERATOR, id="other")),
        "not_permitted",
    ),
    "half a predicate": (sent(confirmed("slots.diet ==")), "schema_violation"),
    "a predicate nested deeply": (sent(confirmed("not " * 3_000 + "slots.a")), "schema_violation"),
    "brackets nested deeply": (
        sent(confirmed("(" * 20_000 + "slots.a == 1" + ")" * 20_000)), "schema_violation"
    ),
    "a predicate of 100,000 parts": (
        sent(confirmed(" or ".join(["slots.a == 1"] * 10_000))), "schema_violation"
    ),
    "a sum of 10,000 parts": (
        sent(confirmed("slots.a == " + " + ".join(["1"] * 10_000))), "schema_violation"
    ),
    "a validity that ends before it begins": (
        sent(confirmed("slots.a == 1", valid_from_ms=2, valid_to_ms=1)), "schema_violation"
    ),
    "a digest of three bytes": (
        sent(PredicateConfirmed(b"abc", None, ())), "schema_violation"
    ),
    "a digest of nothing": (sent(PredicateConfirmed(None, None, ())), "schema_violation"),
    "a digest unheard of": (sent(PredicateConfirmed(bytes(32), None, ())), "stale_digest"),
    "a decline of three bytes": (sent(ProposalDeclined(b"abc")), "schema_violation"),
    "a turn that never was": (sent(TurnCancelled("no")), "unknown_turn"),
    "candidates for a turn that never was": (
        sent(CandidatesProposed("no", None, (), None, None, ()), principal=GENERATOR),
        "unknown_turn",
    ),
    "a negative cost": (
        sent(EvidenceRecorded((replace(unit(), cost=-1),))), "schema_violation"
    ),
    "a negative budget": (sent(request(budget_main=-1)), "schema_violation"),
    "a slot without name": (sent(stated("v", slot="")), "schema_violation"),
    "a slot with NUL": (sent(stated("v", slot="a\0b")), "schema_violation"),
}  # fmt: skip
GROUPS = (MISSING, FRAMES, BODIES, SIZES, VALUES, ENVELOPES, PAYLOADS)
HOSTILE = {name: case for group in GROUPS for name, case in group.items()}
