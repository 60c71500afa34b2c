"""The first cause of a divergence in words: which event, which field, and the rule behind it."""

from dataclasses import dataclass
from typing import Any, Final

from infra.audit.comparison import LEDGERS, Divergence
from infra.event_json import render_record
from infra.records import OUTCOME_TOPICS, read_output
from processors.certification import compare
from schemas.codec import DecodeError, decode, unframe
from schemas.event import Event
from schemas.fate import Fate

RULES: Final = (
    ("ledgers", "", "admission: who may say what, and when (spec 1.4-1.11)"),
    ("rejections", "", "reasons of rejection (spec 1.11)"),
    ("contracts", "", "what is in force (spec 2.1)"),
    ("states", "", "slots, proposals, obligations and questions (spec 1.10, 3.1)"),
    ("surfaces", "", "the surface check (spec 5.11)"),
    ("packets", "units", "the choice of Z* (spec 4.1, 4.2)"),
    ("packets", "terms", "the terms of J (spec 4, 4.3)"),
    ("packets", "coverage", "required coverage R_t (spec 3.3, 4.4)"),
    ("packets", "contract", "the contract h_t (spec 2.1, 2.2)"),
    ("packets", "objective", "the value of Z* and its bound (spec 4, 4.5)"),
    ("packets", "bound", "the value of Z* and its bound (spec 4, 4.5)"),
    ("packets", "gap", "the value of Z* and its bound (spec 4, 4.5)"),
    ("packets", "cost", "the budgets (spec 4.2)"),
    ("packets", "budget", "what is in force (spec 1.7)"),
    ("packets", "weights", "what is in force (spec 1.7)"),
    ("packets", "selector", "what is in force (spec 1.7)"),
    ("packets", "ruleset", "what is in force (spec 1.7)"),
    ("packets", "catalogue_digest", "what is in force (spec 1.7)"),
    ("packets", "left_out", "what was left out (spec 4.5)"),
    ("packets", "terms_digest", "what was left out (spec 4.5)"),
    ("", "certificate.candidates", "support, verdicts and the vector nu (spec 5, 5.3-5.5)"),
    ("", "certificate.coverage", "required coverage R_t (spec 3.3, 4.4)"),
    ("", "certificate.evidence", "Z* at the decision (spec 4, 5.4)"),
    ("", "certificate.contract", "the contract h_t (spec 2.1, 2.2)"),
    ("", "certificate.ruleset", "what is in force (spec 1.7)"),
    ("", "certificate.catalogue_digest", "what is in force (spec 1.7)"),
    ("", "certificate.as_of_ms", "as_of (spec 3.5)"),
    ("", "certificate", "the events folded before (spec 1.2, 6.3)"),
    ("", "act", "delta and the act it maps to (spec 5.7)"),
    ("", "reason", "delta and the act it maps to (spec 5.7)"),
    ("", "question", "what a Clarify asks (spec 5.9)"),
    ("", "conflict", "the conflict core (spec 2.7, 5.7)"),
    ("", "relaxations", "the smallest relaxations (spec 5.7)"),
    ("", "text", "rendered texts and the surface check (spec 5.8, 5.11)"),
    ("", "slots", "the merged commitment (spec 5.2)"),
    ("", "candidate_digest", "the lexicographic minimum (spec 5, 5.6)"),
    ("", "utility", "the utility S (spec 5.5)"),
    ("", "outcome_id", "position of the turn (spec 1.2, 6.1)"),
    ("", "seq", "position of the turn (spec 1.2, 6.1)"),
)
"""(topic or "" for any, beginning of the field's path, the rule); the first that fits counts."""

ENDING_RULE: Final = "how a turn ends: one of commitment, repair act, failure (spec 5.6, 5.7)"


@dataclass(frozen=True, slots=True)
class Cause:
    """The first difference of a replay, explained; "" where something does not apply."""

    partition: int
    offset: int
    event_id: str
    event_type: str
    tenant: str
    user: str
    topic: str
    kind: str
    field: str
    recorded: str
    replayed: str
    rule: str


def explain_divergence(divergence: Divergence) -> Cause:
    """Return the cause of a divergence: the event, the first differing field, and its rule."""
    event = _open_event(divergence)
    field, recorded, replayed = _compare(divergence)
    return Cause(
        partition=divergence.partition,
        offset=-1 if divergence.record is None else divergence.record.offset,
        event_id="" if event is None else event.event_id,
        event_type="" if event is None else type(event.payload).__name__,
        tenant="" if event is None else event.tenant,
        user="" if event is None else event.user,
        topic=divergence.topic,
        kind=divergence.kind,
        field=field,
        recorded=recorded[:200],
        replayed=replayed[:200],
        rule=find_rule(divergence.topic, field),
    )


def find_rule(topic: str, field: str) -> str:
    """Return the rule that decides a field of a topic's record."""
    if field == "outcome":
        return ENDING_RULE
    for of_topic, prefix, rule in RULES:
        if of_topic in {"", topic} and field.startswith(prefix):
            return rule
    return ""


def _compare(divergence: Divergence) -> tuple[str, str, str]:
    """Return the first differing field and both its values."""
    recorded, replayed = divergence.recorded, divergence.replayed
    ends = [
        [output for output in side if output.topic in OUTCOME_TOPICS]
        for side in (recorded, replayed)
    ]
    if divergence.kind != "divergent" and all(ends):
        return "outcome", _name(ends[0][0]), _name(ends[1][0])
    if not recorded or not replayed or divergence.kind != "divergent":
        shown = [_name(side[0]) if side else "nothing" for side in (recorded, replayed)]
        return "", shown[0], shown[1]
    try:
        left, right = (_read(divergence.topic, side[0].value) for side in (recorded, replayed))
    except DecodeError as error:
        return "", str(error), ""
    difference = next(compare(render_record(left), render_record(right)), None)
    if difference is None:
        return "key", recorded[0].key.hex(), replayed[0].key.hex()
    return difference.path, difference.stated, difference.found


def _name(output: Any) -> str:
    """Say what an output is, in a word or two."""
    try:
        record = _read(output.topic, output.value)
    except DecodeError:
        return f"bytes that are no record of {output.topic}"
    act = getattr(record, "act", None)
    if act is not None:
        return f"{output.topic}: {act.value} because of {record.reason.value}"
    what = getattr(record, "commitment_type", "") or getattr(record, "turn_id", "")
    return f"{output.topic}: {type(record).__name__} {what}".strip()


def _read(topic: str, value: bytes) -> Any:
    return decode(Fate, value) if topic == LEDGERS else read_output(topic, value)


def _open_event(divergence: Divergence) -> Event | None:
    if divergence.record is None:
        return None
    try:
        return unframe(Event, divergence.record.value)[0]
    except DecodeError:
        return None
