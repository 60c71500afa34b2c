"""Commitments that a turn may amend, shown as units beside E_t (from ruleset 3 on).

A generator sees the packet only, so an amendment can name nothing that is not in it. What a
commitment makes true stands in u_t; here it is only shown, and covers and grounds nothing.
"""

from dataclasses import replace
from typing import Final

from processors.compilation.commitments import FAILED
from processors.limits import AMENDABLE_MAX
from processors.ruleset import find_ruleset
from processors.situation import Situation, Unit
from schemas.candidate import Amendment
from schemas.catalogue import Authority
from schemas.codec import digest
from schemas.event import Sensitivity
from schemas.packet import PacketUnit
from schemas.row import CommitmentRow
from schemas.turn import UnitScore
from schemas.value import RecordValue, build_record
from schemas.value_json import render_json

_MARK: Final = "c"
_FULL: Final = 1_000_000


def show_commitments(situation: Situation) -> Situation:
    """Return the situation with one unit for each commitment that the turn may amend.

    Those are the newest ``AMENDABLE_MAX`` of the scene's types that did not fail. Each is fully
    relevant and costs its bytes, so the budget decides how many a packet holds; its id names the
    event that made this version, so an older version is no unit any more.
    """
    if not find_ruleset(situation.regime.ruleset).shows_commitments:
        return situation
    live = sorted(
        (row.seq, name)
        for name, row in situation.commitments.items()
        if row.result != FAILED and row.commitment_type in situation.scene.commitment_types
    )
    shown = [_build_unit(name, situation.commitments[name]) for _, name in live[-AMENDABLE_MAX:]]
    if not shown:
        return situation
    scores = tuple(UnitScore(unit.unit_id, _FULL, 0) for unit in shown)
    # A commitment's event bears no other unit, so that the order by (seq, index) stays whole.
    placed = sorted(enumerate((*situation.units, *shown)), key=lambda item: (item[1].seq, item[0]))
    return replace(
        situation,
        units=tuple(unit for _, unit in placed),
        request=replace(situation.request, scores=(*scores, *situation.request.scores)),
    )


def is_commitment(unit: Unit | PacketUnit) -> bool:
    """Return whether a unit shows a commitment; no event can bear a unit of such an id."""
    return unit.unit_id.partition("#")[2] == _MARK


def read_amendment(unit: PacketUnit) -> tuple[str, Amendment] | None:
    """Return type, id and version of the commitment that a unit shows; None for other units."""
    if not is_commitment(unit) or not isinstance(unit.value, RecordValue):
        return None
    fields = dict(unit.value.fields)
    name, version, kind = (fields[key] for key in ("commitment_id", "version", "commitment_type"))
    assert isinstance(name, str)
    assert isinstance(kind, str)
    assert isinstance(version, int)
    return kind, Amendment(name, version)


def _build_unit(name: str, row: CommitmentRow) -> Unit:
    content = render_json(RecordValue(tuple((slot.name, slot.value) for slot in row.slots)))
    return Unit(
        unit_id=f"{row.seq}#{_MARK}",
        event_id=row.event_id,
        event_digest=digest(row),
        seq=row.seq,
        content=content,
        reference=None,
        subject="",
        slot=None,
        value=build_record(
            commitment_id=name, commitment_type=row.commitment_type, version=row.version
        ),
        dimensions=(),
        # Worth what its values are worth in u_t: a generated value is never above that.
        authority=Authority.INFERRED,
        tail_witness=False,
        sensitivity=Sensitivity.NONE,
        cost=len(content.encode()),
        predicate_id=None,
    )
