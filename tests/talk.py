"""Short talks through the whole core for tests of reports: a catalogue, what is said, a turn.

One scene, ``dinner``, whose types are given; everything goes through ``decision.step``.
"""

from datetime import datetime

from schemas.agreement import PredicateConfirmed
from schemas.catalogue import Catalogue
from schemas.codec import digest
from schemas.observation import (
    EvidenceRecorded,
    FormSubmitted,
    SlotStatement,
    UtteranceObserved,
    UtteranceOrigin,
)
from schemas.outcome import Commitment, RepairAct
from schemas.packet import Packet
from schemas.turn import CandidatesProposed
from tests.conversation import GENERATOR, OPERATOR, Conversation, genesis
from tests.situations import predicate, request, scene


def begin(*types, set_slots=(), regime=None, **scene_changes):
    """Return a conversation after genesis; its one scene has these types."""
    names = tuple(one.name for one in types)
    in_scene = scene(commitment_types=names, **scene_changes)
    talk = Conversation()
    catalogue = Catalogue("reports", (in_scene,), types, set_slots, ())
    talk.tell(genesis(catalogue, **(regime or {})), by=OPERATOR)
    return talk


def read_ms(text):
    """Return an instant written with its offset, in milliseconds."""
    return int(datetime.fromisoformat(text).timestamp() * 1_000)


def at(text):
    """Return the envelope of an event that occurred, and was appended, at this instant."""
    return {"occurred_at_ms": read_ms(text), "append_ms": read_ms(text)}


def form(subject="", **slots):
    """Return a form with these slots."""
    return FormSubmitted(
        None, tuple(SlotStatement(subject, k, v, None, None) for k, v in slots.items()), ()
    )


def said(text, origin=UtteranceOrigin.SAID):
    """Return a text as it was observed."""
    return UtteranceObserved(text, origin, None, ())


def recorded(*units):
    """Return recorded evidence."""
    return EvidenceRecorded(units)


def confirmed(predicate_id, expression, replaces=(), **changes):
    """Return the confirmation of a predicate that it carries itself."""
    return PredicateConfirmed(None, predicate(predicate_id, expression, **changes), replaces)


def answer(turn_id, *proposed, packet=None):
    """Return the candidates for a turn."""
    return CandidatesProposed(turn_id, packet, proposed, None, None, ())


def ask(talk, turn_id, *proposed, user="u", by=None, when=None, **changes):
    """Request a turn and answer it with candidates, unless it ended at once; return its outcome."""
    envelope = {} if when is None else at(when)
    sender = {} if by is None else {"by": by}
    step = talk.tell(request(**changes), event_id=turn_id, user=user, **envelope, **sender)
    if step.outputs and isinstance(step.outputs[0], Packet):
        talk.tell(answer(turn_id, *proposed), by=GENERATOR, user=user, **envelope)
    (outcome,) = talk.outcomes(turn_id)
    return outcome


def packet_of(talk, turn_id):
    """Return the packet of a turn."""
    (packet,) = [one for one in talk.outputs if isinstance(one, Packet) and one.turn_id == turn_id]
    return packet


def violations(outcome, *proposed):
    """Return nu_h of each candidate, as the outcome's certificate has it."""
    found = {one.digest: one.violations for one in outcome.certificate.candidates}
    return [found[digest(one)] for one in proposed]


def unmet(outcome, candidate):
    """Return what the certificate says that a candidate does not meet."""
    (report,) = [one for one in outcome.certificate.candidates if one.digest == digest(candidate)]
    return [requirement.argument for requirement in report.unmet]


def chosen(outcome, *proposed):
    """Return which of the candidates was committed, by its place; None for a repair act."""
    if isinstance(outcome, RepairAct):
        return None
    assert isinstance(outcome, Commitment)
    return [digest(one) for one in proposed].index(outcome.candidate_digest)
