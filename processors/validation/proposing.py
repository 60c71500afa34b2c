"""The proposals that an act opens, found again from the act: none of them is a candidate's.

An act names digests; what they stand for follows from the situation (spec 5.8, 5.9), so the
act can be checked and folded from its record alone.
"""

from collections.abc import Iterator

from processors.applicability import find_slots
from processors.compilation.proposals import FULL_CONFIDENCE, OPEN
from processors.situation import InForce, Situation
from processors.validation.contradiction import list_revisions
from processors.validation.fixing import (
    find_stated,
    fix_slot,
    list_offered,
    list_replaced,
    list_stated,
)
from schemas.catalogue import Authority
from schemas.identity import predicate_digest
from schemas.observation import HintKind
from schemas.outcome import QuestionOption, Relaxation, RepairAct
from schemas.predicate import Predicate
from schemas.row import ProposalRow
from schemas.value import Value


def list_opened(
    situation: Situation, act: RepairAct, event_id: str = ""
) -> tuple[ProposalRow, ...]:
    """Return the proposals that an act opens, sorted by digest; those already open are none.

    ``event_id`` is that of the event by which the act was decided.
    """
    known = {row.digest for row in situation.proposals if row.status == OPEN}
    found: dict[bytes, ProposalRow] = {}
    for option in () if act.question is None else act.question.options:
        for row in _open_option(situation, option, event_id):
            found.setdefault(row.digest, row)
    for relaxation in act.relaxations:
        for row in _open_relaxation(situation, relaxation, event_id):
            found.setdefault(row.digest, row)
    return tuple(found[digest] for digest in sorted(found) if digest not in known)


def _open_option(
    situation: Situation, option: QuestionOption, event_id: str
) -> Iterator[ProposalRow]:
    stated = find_stated(situation, option.slot)
    predicate = None if stated is None else fix_slot(situation, option.slot, stated.value)
    if predicate is None or stated is None or predicate_digest(predicate) != option.digest:
        return
    yield _build_row(
        situation,
        predicate,
        slot=option.slot,
        value=stated.value,
        authority=stated.authority,
        replaces=list_replaced(situation, predicate, option.slot),
        event_id=event_id,
    )


def _open_relaxation(
    situation: Situation, relaxation: Relaxation, event_id: str
) -> Iterator[ProposalRow]:
    for item in situation.contract:
        if item.row.predicate.predicate_id != relaxation.predicate_id:
            continue
        for predicate, slot, value, authority in _list_changes(situation, item):
            if predicate_digest(predicate) == relaxation.digest:
                yield _build_row(
                    situation,
                    predicate,
                    slot=slot,
                    value=value,
                    authority=authority,
                    replaces=(relaxation.predicate_id,),
                    event_id=event_id,
                )


def _list_changes(
    situation: Situation, item: InForce
) -> Iterator[tuple[Predicate, str, Value, Authority]]:
    if item.predecessor is not None:
        yield item.predecessor.predicate, "", None, Authority.ASSERTED
    for slot in find_slots(item.row.predicate):
        for value in list_stated(situation, slot):
            for revision in list_revisions(item, slot, value):
                yield revision, slot, value, Authority.ASSERTED
        for value in list_offered(situation, slot):
            for revision in list_revisions(item, slot, value):
                yield revision, slot, value, Authority.OBSERVED


def _build_row(
    situation: Situation,
    predicate: Predicate,
    *,
    slot: str,
    value: Value,
    authority: Authority,
    replaces: tuple[str, ...],
    event_id: str,
) -> ProposalRow:
    return ProposalRow(
        predicate=predicate,
        digest=predicate_digest(predicate),
        # A slot's value, never a constraint: an act must not raise the bar for the next turn.
        kind=HintKind.SLOT,
        subject=predicate.subject,
        slot=slot,
        value=value,
        authority=authority,
        confidence=FULL_CONFIDENCE,
        replaces=replaces,
        event_id=event_id,
        seq=situation.seq,
        status=OPEN,
        findings=(),
    )
