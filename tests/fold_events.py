"""Random histories of one user, by seed: small vocabularies, so that events meet.

Ids, slots, predicates and times come from few choices; then withdrawals, confirmations, answers
and duplicates hit what was there before. The same seed always gives the same history.
"""

import random
from dataclasses import replace

from schemas.agreement import (
    Answer,
    ClarificationAnswered,
    ObligationDischarged,
    ObligationOpened,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    ProposalDeclined,
)
from schemas.candidate import SlotValue
from schemas.identity import predicate_digest
from schemas.observation import (
    CommitmentObserved,
    ErasureRequested,
    HintKind,
    OutcomeObserved,
    UtteranceOrigin,
)
from schemas.predicate import PredicateScope
from tests.given import (
    START_MS,
    corrected,
    event,
    evidence,
    form,
    hint,
    predicate,
    said,
    statement,
    turn,
    unit,
    withdrawn,
)

HOUR_MS = 3_600_000
SLOTS = ("diet", "dish", "avoid")
VALUES = ("vegan", "meat", "soup")
PREDICATES = (
    predicate('slots.diet == "vegan"', "diet"),
    predicate('slots.diet == "meat"', "diet"),
    predicate('slots.diet == "soup"', "slot:.diet"),
    predicate('slots.dish != "pork"', "no-pork"),
    predicate('slots.dish != "beef"', "no-beef", scope=PredicateScope.EPISODE),
    predicate("slots.price <= 50", "budget", scenes=("dinner",), scope=PredicateScope.EPISODE),
)
USER_BY = "user:ada"
OPERATOR_BY = "operator:ops"


def write_history(seed, size=24, kinds=None):
    """Return events of these kinds (all of ``KINDS``), each with the next id, some repeated."""
    draw = random.Random(seed)
    makers = [KINDS[name] for name in kinds or tuple(KINDS)]
    events = []
    for number in range(size):
        if events and draw.random() < 0.05:
            events.append(draw.choice(events))
            continue
        senders, make = draw.choice(makers)
        names = _name_events(draw, number)
        sent = event(
            make(draw, names),
            by=draw.choice(senders),
            at_ms=START_MS + number * HOUR_MS - draw.choice((0, 0, 0, 3 * HOUR_MS)),
            event_id=f"e{number}",
        )
        if draw.random() < 0.2:
            sent = replace(sent, derived_from=names[:1])
        events.append(sent)
    return events


def _name_events(draw, number):
    """Return ids of up to two events, most of them earlier ones."""
    return tuple(f"e{max(0, number - draw.randint(-2, 8))}" for _ in range(draw.randint(1, 2)))


def _state(draw, _names=()):
    end_ms = draw.choice((None, None, None, START_MS + draw.randint(1, 30) * HOUR_MS))
    start_ms = draw.choice((None, None, None, START_MS + draw.randint(0, 20) * HOUR_MS))
    if start_ms is not None and end_ms is not None and end_ms <= start_ms:
        end_ms = None
    return statement(draw.choice(SLOTS), draw.choice(VALUES), start_ms=start_ms, end_ms=end_ms)


def _form(draw, _names):
    return form(*(_state(draw) for _ in range(draw.randint(1, 3))))


def _say(draw, _names):
    origin = draw.choice((UtteranceOrigin.SAID, UtteranceOrigin.SAID, UtteranceOrigin.SUMMARY))
    return said(draw.choice(("I like soup", "no beef please")), origin=origin)


def _record(draw, _names):
    return evidence(*(unit(dimensions=("mood",)) for _ in range(draw.randint(0, 2))))


def _hint(draw, names):
    if draw.random() < 0.4:
        return hint(rule=draw.choice(PREDICATES), sources=names)
    kind = draw.choice((HintKind.SLOT, HintKind.PREFERENCE))
    return hint(draw.choice(SLOTS), draw.choice(VALUES), kind=kind, sources=names)


def _outcome(draw, _names):
    named = draw.choice((None, "c1"))
    return OutcomeObserved("dinner", named, draw.random() < 0.5, (_state(draw),), (), ())


def _confirm(draw, _names):
    rule = draw.choice(PREDICATES)
    named = draw.choice(((), (), ("no-pork",), ("diet",)))
    if draw.random() < 0.5:
        return PredicateConfirmed(predicate_digest(rule), None, ())
    return PredicateConfirmed(None, rule, named)


def _answer(draw, _names):
    answer = draw.choice((Answer.CONFIRM, Answer.REJECT, Answer.VALUE))
    values = (SlotValue("diet", draw.choice(VALUES)),) if answer is Answer.VALUE else ()
    return ClarificationAnswered(draw.choice((None, "q1")), answer, (), values)


KINDS = {
    "form": ((USER_BY, "tool:t"), _form),
    "said": ((USER_BY, "assistant:a", "tool:t"), _say),
    "evidence": ((USER_BY, "tool:t", OPERATOR_BY), _record),
    "hint": (("generator:g",), _hint),
    "outcome": ((USER_BY, "tool:t"), _outcome),
    "withdrawn": ((USER_BY, OPERATOR_BY), lambda draw, names: withdrawn(*names)),
    "corrected": (
        (USER_BY, OPERATOR_BY),
        lambda draw, names: corrected(*names, diet=draw.choice(VALUES)),
    ),
    "proposed": (
        (USER_BY, "assistant:a", "tool:t", "generator:g"),
        lambda draw, names: PredicateProposed(draw.choice(PREDICATES), (), HintKind.CONSTRAINT),
    ),
    "confirmed": ((USER_BY, OPERATOR_BY), _confirm),
    "revoked": (
        (USER_BY, OPERATOR_BY),
        lambda draw, names: PredicateRevoked(draw.choice(PREDICATES).predicate_id),
    ),
    "declined": (
        (USER_BY,),
        lambda draw, names: ProposalDeclined(predicate_digest(draw.choice(PREDICATES))),
    ),
    "answered": ((USER_BY,), _answer),
    "commitment": (
        ("tool:t",),
        lambda draw, names: CommitmentObserved("c1", "dinner", "meal", ()),
    ),
    "obligation": (
        ("tool:t",),
        lambda draw, names: draw.choice(
            (ObligationOpened("o1", "mood", None, ()), ObligationDischarged("o1"))
        ),
    ),
    "turn": ((USER_BY, "assistant:a"), lambda draw, names: turn()),
    "erasure": (
        (USER_BY,),
        lambda draw, names: ErasureRequested(draw.choice((names, names, names, ()))),
    ),
}
"""Kinds of events: who may send them, and how one is made of the draw and ids of events."""

OBSERVATIONS = ("form", "said", "evidence", "hint", "outcome", "withdrawn", "corrected")
