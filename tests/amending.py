"""Conversations in which there is something to amend, for tests of amendments."""

from schemas.control import RulesetActivated
from schemas.event import CommitmentObserved
from tests.conversation import GENERATOR, OPERATOR, TOOL
from tests.kitchen import asked, candidates, form, meal, packet_of, started
from tests.situations import request


def cooking(ruleset=3):
    """Return a conversation in which a soup was committed."""
    talk = started()
    talk.tell(RulesetActivated(ruleset), by=OPERATOR)
    talk.tell(form(dish="soup"))
    asked(talk)
    talk.tell(candidates(meal()), by=GENERATOR)
    return talk


def elsewhere(talk, name, dish="stew"):
    """Observe a meal that was agreed elsewhere."""
    slots = meal(dish).slots
    talk.tell(CommitmentObserved(name, "dinner", "meal", slots), by=TOOL)


def ask_again(talk, **changes):
    """Ask for another turn and return its packet."""

    return packet_of(talk.tell(request(**changes), event_id="again"))
