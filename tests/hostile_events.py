"""Events whose every field may hold anything that its type allows, drawn by a seed.

Names, numbers and values come from pools in which plausible ones meet, so that much of what is
drawn is accepted and the absurd reaches the fold; the schema alone decides the shape.
"""

import typing
from dataclasses import is_dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum

from schemas.catalogue import Catalogue
from schemas.event import Event, Principal, PrincipalKind, UserPayload
from schemas.identity import predicate_digest
from schemas.predicate import Predicate
from schemas.record import branches, hints, is_value
from schemas.turn import CandidatesProposed, TurnRequested
from schemas.value import (
    Elapsed,
    Money,
    Period,
    RecordValue,
    StringSet,
    Timestamp,
    build_record,
)
from tests.conversation import CLOCK, GENERATOR, START_MS, TOOL, USER
from tests.random_parts import TEXTS
from tests.situations import predicate

PAYLOADS = typing.get_args(UserPayload)
NAMES = (
    "dish", "diet", "dinner", "lunch", "meal", "snack", "e1", "e2", "e3", "e4", "e5", "e9", "p0",
    "p1", "u", "m", "text", "mood", "2#0", "3#p:p0", "days[0].x", "x.y", "days[*]", "9" * 40,
)  # fmt: skip
ODD_NAMES = ("", " ", "\0", "a\0b", "x" * 513, "\ufeff", "{dish}", "\u202eabc", "💥", "\ufdd0")
EXPRESSIONS = (
    *TEXTS, 'slots.days[0].x == "a"', "slots.dish[*].x contains 1", "sum(slots.guests) <= 1",
    "state.dish == slots.dish", 'unit.dish == "soup"', 'attested("c")', "slots.guests - 1 > 2",
    'all d in slots.dish: d.x == "a"', 'slots.time >= after("P1D")', "amended.dish != slots.dish",
    'slots.price <= money("1.00 EUR")', "as_of > timestamp(0)", "slots.dish ==", "", "(",
)  # fmt: skip
NUMBERS = (0, 1, 2, 5, 30, 1_000, 500_000, 1_000_000, START_MS, START_MS + 9_000)
ODD_NUMBERS = (-1, -(2**63), 2**63 - 1, 2**62, 10**15)
VALUES = (
    "soup", "vegan", "", None, True, 3, -(2**63), 2**63 - 1, Decimal("0.1"), Decimal("9" * 38),
    Money(Decimal("95.00"), "EUR"), Money(Decimal(1), ""), date(2026, 2, 3), time(23, 59),
    datetime(2026, 2, 3, 4, 5),  # noqa: DTZ001 - a local date-time
    Timestamp(-(2**63)), Timestamp(2**63 - 1), Elapsed(2**63 - 1),
    Period(-900_000, 900_000), StringSet(()), StringSet(("a", "b")), (), ("x", None, 3),
    (((((("deep",),),),),),), build_record(x="a"), RecordValue(()), "\ufdd0", "a\0b",
)  # fmt: skip


NONE_MOSTLY = {"ruleset", "catalogue_digest", "retry_of", "as_of_ms", "packet_digest", "amends"}
EMPTY_MOSTLY = {"wanted_dimensions", "dimensions", "blocks", "required_slots"}
POOLS = {
    "scene": ("dinner", "lunch"),
    "scenes": ("dinner", "lunch"),
    "commitment_type": ("meal", "tasting", "snack", "none"),
    "path": ("dish", "dish.$date", "diet.x", "guests[0]", "dish[*]", ""),
    "evidence_ids": ("2#0", "3#0", "4#p:p0", "x"),
    "surface_text": ("", "", "Soup on 2026-02-03 for 4, I promise.", "{dish}", "\0"),
    "repair_status": ("", "", "", "clarify"),
}
SENDERS = {
    "CandidatesProposed": GENERATOR, "GenerationFailed": GENERATOR, "HintExtracted": GENERATOR,
    "SurfaceProposed": GENERATOR, "TurnExpired": CLOCK, "CommitmentObserved": TOOL,
    "ObligationOpened": TOOL, "ObligationDischarged": TOOL, "VerdictRecorded": TOOL,
}  # fmt: skip


def draw_events(draw, count):
    """Return events of the user ``m``; a turn is often followed by candidates for it."""
    events, turns = [], ["none"]
    while len(events) < count:
        number = len(events) + 1
        kind = draw.choice((*PAYLOADS, TurnRequested, TurnRequested, CandidatesProposed))
        if isinstance(events[-1].payload if events else None, TurnRequested):
            kind = draw.choice((CandidatesProposed, CandidatesProposed, kind))
        payload = draw_field(draw, kind, "")
        if hasattr(payload, "turn_id"):
            payload = replace(payload, turn_id=draw.choice(turns[-3:]))
        events.append(_wrap(draw, payload, number))
        if kind is TurnRequested:
            turns.append(events[-1].event_id)
    return events


def _wrap(draw, payload, number):
    plain = SENDERS.get(type(payload).__name__, USER)
    kinds = [kind for kind in PrincipalKind if kind is not PrincipalKind.UNKNOWN]
    sender = plain if draw.random() < 0.8 else Principal(draw.choice(kinds), "root")
    return Event(
        event_id=f"e{number}" if draw.random() < 0.97 else draw.choice(NAMES),
        tenant="t",
        user="m",
        occurred_at_ms=START_MS + draw.choice((0, 1_000, 1_000 * number)),
        utc_offset_min=draw.choice((0, 60, 60, -1_080)) if draw.random() < 0.97 else None,
        zone=draw.choice((None, None, "Europe/Paris", "Asia/Kathmandu")),
        principal=sender,
        mac=None,
        causation_id=None,
        correlation_id=None,
        derived_from=draw.choice(((), (), (), ("e1",), (f"e{number}",), ("e2", "e9", "none"))),
        source=None,
        source_seq=None,
        payload=payload,
    )


def draw_field(draw, annotation, name):
    """Return anything of this type; the field's name chooses the pool."""
    odd = draw.random() < 0.01
    if name in NONE_MOSTLY and draw.random() < 0.9:
        return None
    if name in POOLS and annotation is str and not odd:
        return draw.choice(POOLS[name])
    if is_value(annotation):
        return draw.choice(VALUES)
    if annotation is str:
        if name in {"expression", "unless"}:
            return draw.choice(TEXTS if draw.random() < 0.8 else EXPRESSIONS)
        return draw.choice(ODD_NAMES if odd else NAMES)
    if annotation is int:
        return draw.choice(ODD_NUMBERS if odd else NUMBERS)
    if annotation is bool:
        return draw.random() < 0.5
    if annotation is bytes:
        return b"\0" if odd else predicate_digest(predicate("p0", draw.choice(TEXTS)))
    if members := branches(annotation):
        some = [member for member in members if member is not type(None)]
        if len(some) < len(members) and draw.random() < 0.5:
            return None
        return draw_field(draw, draw.choice(some), name)
    if typing.get_origin(annotation) is tuple:
        if name in EMPTY_MOSTLY and draw.random() < 0.9:
            return ()
        item = typing.get_args(annotation)[0]
        size = draw.choice((0, 1, 1, 2, 3))
        return tuple(draw_field(draw, item, name) for _ in range(size))
    if issubclass(annotation, StrEnum):
        known = [member for member in annotation if member.value != "unknown"]
        return draw.choice(list(annotation) if odd else known)
    if annotation is Predicate and draw.random() < 0.5:
        return predicate(draw.choice(("p0", "p1")), draw.choice(TEXTS))
    assert is_dataclass(annotation)
    assert annotation is not Catalogue
    return annotation(
        **{key: draw_field(draw, hint, key) for key, hint in hints(annotation).items()}
    )
