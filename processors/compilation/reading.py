"""read_situation: h_t, u_t, E_t and the request of one turn, from the rows, once (spec 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Final

from processors.applicability import find_slots
from processors.compilation.commitments import new_episode
from processors.compilation.contract import REPLACED, digest_contract
from processors.compilation.control import is_incomplete, read_regime
from processors.compilation.draft import HEAD_ID, NEW_HEAD
from processors.compilation.fixing import find_fixed_slot, name_zone
from processors.compilation.pool import Pool, read_pool
from processors.compilation.proposals import OPEN
from processors.compilation.recollection import recollect
from processors.compilation.touches import Touches
from processors.compilation.units import build_predicate_unit
from processors.predicates.applies import contains
from processors.situation import InForce, Situation, Unit
from processors.view import Arrival, View
from schemas.catalogue import Catalogue, Scene
from schemas.event import TurnRequested
from schemas.row import (
    ActivationRow,
    CatalogueRow,
    CommitmentRow,
    EpisodeRow,
    ObligationRow,
    PendingRow,
    PredicateRow,
    ProposalRow,
    QuestionRow,
    RegimeRow,
    TouchRow,
    UserHead,
)

ACTIVATION_ID: Final = ""
_AFTER_ALL: Final = 1 << 32  # The place of predicates behind the units of their own event.


def read_situation(view: View, pending: PendingRow, arrival: Arrival) -> Situation:
    """Return all that deciding a pending turn at this event may read (spec 5.4).

    ``view`` shows the event's own changes already. as_of is the turn's effective time unless the
    request names another (spec 3.5). E_t holds the units inside the turn's scopes, valid at
    as_of and neither withdrawn nor replaced, one for each predicate in force among them, sorted
    by (seq, index).
    """
    request = pending.request.payload
    assert isinstance(request, TurnRequested), "a pending turn holds its request"
    regime = _read_turn_regime(view, request)
    catalogue = _read_catalogue(view, regime)
    as_of_ms = pending.effective_ms if request.as_of_ms is None else request.as_of_ms
    rows = [row for _, row in view.scan(PredicateRow)]
    in_force = [row for row in rows if row.ended_seq is None]
    pool = read_pool(recollect(view), rows, request, as_of_ms, catalogue.set_slots)
    head = view.get(UserHead, HEAD_ID) or NEW_HEAD
    scene = _find_scene(catalogue, request.scene)
    return Situation(
        tenant=view.tenant,
        user=view.user,
        turn_id=pending.request.event_id,
        request=request,
        request_seq=pending.seq,
        request_event_id=pending.request.event_id,
        request_digest=pending.request_digest,
        seq=arrival.seq,
        effective_ms=arrival.effective_ms,
        as_of_ms=as_of_ms,
        historical=as_of_ms != pending.effective_ms,
        zone=name_zone(pending.request),
        regime=regime,
        catalogue=catalogue,
        scene=scene,
        types={declared.name: declared for declared in catalogue.types},
        contract=_list_contract(rows),
        contract_version=head.contract_version,
        contract_digest=digest_contract(in_force),
        slots=pool.slots,
        stated=pool.values,
        preferences=pool.preferences,
        units=_list_units(pool, as_of_ms, in_force, ("", view.user, *request.participants)),
        obligations=tuple(
            (row_id, row) for row_id, row in view.scan(ObligationRow) if row.discharged_seq is None
        ),
        proposals=tuple(row for _, row in view.scan(ProposalRow) if row.status == OPEN),
        questions=tuple(view.scan(QuestionRow)),
        touches=Touches(dict(view.scan(TouchRow)), pool),
        commitments=dict(view.scan(CommitmentRow)),
        episode=view.get(EpisodeRow, scene.name) or new_episode(pending.seq),
        activation=view.get(ActivationRow, ACTIVATION_ID) or ActivationRow((), ()),
        incomplete=is_incomplete(view, regime),
        halted=head.halted,
        chain=head.chain,
    )


def _read_turn_regime(view: View, request: TurnRequested) -> RegimeRow:
    """Return what is in force, under the catalogue that the turn named, if it named one."""
    regime = read_regime(view)
    named = request.catalogue_digest
    if named is None or view.get(CatalogueRow, named.hex()) is None:
        return regime
    return replace(regime, catalogue_digest=named)


def _read_catalogue(view: View, regime: RegimeRow) -> Catalogue:
    row = view.get(CatalogueRow, regime.catalogue_digest.hex())
    assert row is not None, "the active catalogue has a row"
    return row.catalogue


def _find_scene(catalogue: Catalogue, name: str) -> Scene:
    """Return the scene; one that a newer catalogue lacks allows nothing any more."""
    for scene in catalogue.scenes:
        if scene.name == name:
            return scene
    return Scene(name, (), (), (), (), (), "")


def _list_contract(rows: Sequence[PredicateRow]) -> tuple[InForce, ...]:
    ended: dict[int, list[PredicateRow]] = {}
    for row in rows:
        if row.ended_seq is not None and row.ended_by.startswith(REPLACED):
            ended.setdefault(row.ended_seq, []).append(row)
    found = [InForce(row, _find_predecessor(row, ended)) for row in rows if row.ended_seq is None]
    return tuple(sorted(found, key=lambda item: (item.row.predicate.predicate_id, item.row.seq)))


def _find_predecessor(
    row: PredicateRow, ended: Mapping[int, list[PredicateRow]]
) -> PredicateRow | None:
    """Return what a predicate replaced: the version before it, else what it named first."""
    candidates = ended.get(row.seq, [])
    for name in (row.predicate.predicate_id, *row.replaces):
        for before in candidates:
            if before.predicate.predicate_id == name:
                return before
    return None


def _list_units(
    pool: Pool, as_of_ms: int, in_force: Sequence[PredicateRow], about: tuple[str, ...]
) -> tuple[Unit, ...]:
    """Return E_t: the units of events, and one for each predicate in force and valid at as_of.

    Only what is about the user or a participant is in it: another's slot covers nobody's.
    """
    named = sorted(in_force, key=lambda row: (row.predicate.predicate_id, row.seq))
    for number, row in enumerate(named):
        predicate = row.predicate
        if contains(predicate, as_of_ms):
            unit = build_predicate_unit(
                row, slots=find_slots(predicate), fixed=find_fixed_slot(predicate)
            )
            pool.units.append((row.seq, _AFTER_ALL + number, unit))
    pool.units.sort(key=itemgetter(0, 1))
    return tuple([unit for _, _, unit in pool.units if unit.subject in about])
