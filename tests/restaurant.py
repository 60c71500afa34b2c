"""A restaurant's history in which everything happens once: the life of a booking and of its rules.

Questions and answers, a commitment, its amendment, a failure with alternatives, debt, corrections,
withdrawal, revocation, failures of the generator, and an erasure.
"""

from schemas.agreement import (
    Answer,
    ClarificationAnswered,
    ObligationDischarged,
    ObligationOpened,
    PredicateConfirmed,
    PredicateRevoked,
)
from schemas.candidate import SlotValue
from schemas.catalogue import ObligationTemplate, SlotType
from schemas.observation import (
    Alternative,
    CommitmentObserved,
    ErasureRequested,
    HintExtracted,
    HintKind,
    ObservationCorrected,
    ObservationWithdrawn,
    OutcomeObserved,
    SlotStatement,
)
from schemas.predicate import PredicateScope
from schemas.turn import FailureKind, GenerationFailed, SurfaceProposed, TurnCancelled, TurnExpired
from tests.conversation import CLOCK, GENERATOR, TOOL
from tests.given import unit
from tests.lcv import amendment, candidate, typed
from tests.situations import predicate, request, slot
from tests.talk import answer, ask, begin, confirmed, form, recorded, said

BOOKING = typed(
    "booking",
    slot("day"),
    slot("hour", slot_type=SlotType.INT, soft=True),
    slot("guests", slot_type=SlotType.INT),
    required_slots=("day",),
    opens=(ObligationTemplate("receipt", "receipt", 86_400_000, ("lunch",)),),
)
PLAN = typed("plan", slot("courses", slot_type=SlotType.LIST), discharges=("receipt",))


def tell_restaurant():
    """Return the conversation."""
    talk = begin(BOOKING, PLAN, set_slots=("avoid",), fallback="")
    _book(talk)
    _amend(talk)
    _fail(talk)
    _owe(talk)
    _take_back(talk)
    return talk


def _book(talk):
    talk.tell(said("A table on Monday for four, please."), event_id="said-1")
    talk.tell(form(day="Monday", avoid="nuts", guests=4), event_id="form-1")
    talk.tell(
        HintExtracted(HintKind.PREFERENCE, "", "hour", 19, None, 600_000, ("said-1",)),
        by=GENERATOR,
    )
    rule = predicate("few", "slots.guests <= 6", unless="slots.hour == 12")
    talk.tell(confirmed("few", rule.expression, unless=rule.unless), event_id="few-1")
    hint = predicate("monday", 'slots.day == "Monday"', scope=PredicateScope.EPISODE)
    talk.tell(
        HintExtracted(HintKind.CONSTRAINT, "", "day", None, hint, 800_000, ("said-1",)),
        by=GENERATOR,
    )
    act = ask(talk, "t1", candidate("booking", day="Tuesday", guests=4))
    talk.tell(ClarificationAnswered(act.question.question_id, Answer.CONFIRM, (), ()))
    ask(
        talk,
        "t2",
        candidate("booking", day="Monday", guests=4, hour=19, text="Monday at 19 for 4."),
        candidate("booking", day="Monday", guests=8),
        candidate("booking", day="Monday", guests=4, hour=20),
    )
    talk.tell(SurfaceProposed("t2", "See you on Monday.", "en"), by=GENERATOR)


def _amend(talk):
    (booked,) = talk.outcomes("t2")
    more = amendment(booked.commitment_id, 1, "booking", guests=6)
    ask(talk, "t3", more, amendment(booked.commitment_id, 1, "booking", guests=9))
    ask(talk, "t4", more)
    courses = (SlotValue("courses", ("soup", "stew")),)
    talk.tell(CommitmentObserved("plan-1", "dinner", "plan", courses), by=TOOL)
    talk.tell(confirmed("no-fish", 'slots.courses excludes "fish"'))
    swap = amendment("plan-1", 1, "plan", **{"courses[1]": "salad"})
    ask(talk, "t5", amendment("plan-1", 1, "plan", **{"courses[1]": "Fish"}), swap)


def _fail(talk):
    (booked,) = talk.outcomes("t2")
    offered = (Alternative((SlotValue("day", "Tuesday"),)),)
    ask(talk, "t6", candidate("booking", day="Monday", guests=4))
    talk.tell(OutcomeObserved("dinner", None, False, (), offered, ()), by=TOOL)
    ask(talk, "t7", candidate("booking", day="Monday", guests=4))
    talk.tell(OutcomeObserved("dinner", booked.commitment_id, True, (), (), ()), by=TOOL)
    talk.tell(confirmed("small", "slots.guests <= 2"))
    talk.tell(form(guests=4), event_id="form-2")
    act = ask(talk, "t8", candidate("booking", day="Monday", guests=4))
    for relaxation in act.relaxations:
        if relaxation.digest is not None:
            talk.tell(PredicateConfirmed(relaxation.digest, None, ()))
            break
    talk.tell(PredicateRevoked("small"), event_id="revoked-0")


def _owe(talk):
    talk.tell(ObligationOpened("debt", "reply", None, ("booking",)), by=TOOL)
    ask(talk, "t9", candidate("booking", day="Tuesday", guests=4))
    notes = (unit("the landlord wrote", dimensions=("reply",)), unit("rain", dimensions=("sky",)))
    talk.tell(recorded(*notes), by=TOOL, event_id="notes-1")
    talk.tell(request(text="Tuesday then"), event_id="t10")
    talk.tell(GenerationFailed("t10", None, FailureKind.TIMEOUT, None, None, ()), by=GENERATOR)
    talk.tell(request(retry_of="t10"), event_id="t11")
    talk.tell(ObligationDischarged("debt"), by=TOOL)
    talk.tell(answer("t11", candidate("booking", day="Tuesday", guests=5)), by=GENERATOR)


def _take_back(talk):
    guests = (SlotStatement("", "guests", 5, None, None),)
    talk.tell(ObservationCorrected(("form-1",), guests), event_id="corrected-1")
    talk.tell(ObservationWithdrawn(("notes-1", "unheard-of")))
    talk.tell(request(), event_id="t12")
    talk.tell(TurnCancelled("t12"))
    talk.tell(request(), event_id="t13")
    talk.tell(TurnExpired("t13"), by=CLOCK)
    talk.tell(answer("t13", candidate("booking", day="Monday")), by=GENERATOR)
    talk.tell(PredicateRevoked("few"), event_id="revoked-1")
    ask(talk, "t14", candidate("booking", day="Tuesday", guests=40))
    talk.tell(ErasureRequested(("said-1",)))
    ask(talk, "t15", candidate("booking", day="Tuesday"), wanted_dimensions=("text",))
    talk.tell(ErasureRequested(()))
    ask(talk, "t16", candidate("booking", day="Tuesday"))
