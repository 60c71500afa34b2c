"""Laws of validation over any situation and any candidates (spec 5)."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from processors.activation.coverage import binds, derive_requirements, is_empty
from processors.predicates.applies import applies
from processors.predicates.evaluation import judge
from processors.predicates.scope import Scope, UnitValue
from processors.validation.consequences import fold_outcome
from processors.validation.diagnosis import choose_act
from processors.validation.validation import repair_early
from processors.validation.verdicts import name_occasion
from schemas.codec import decode, digest, encode
from schemas.outcome import Commitment, Reason, RepairAct
from schemas.packet import RequirementKind
from tests.given import Rows
from tests.lcv import basis, decided, early
from tests.lcv_strategies import DISHES, candidates, situations

asked = st.lists(candidates(), max_size=5)
MANY = settings(max_examples=60, deadline=None)


def slots_of(outcome):
    """Return the slots of a commitment as a mapping."""
    return {slot.name: slot.value for slot in outcome.slots}


@MANY
@given(situations(), asked)
def test_every_turn_ends_in_exactly_one_act_that_its_reason_maps_to(told, proposed):
    """Delta is total: whatever is proposed, the outcome is a commitment or the one right act."""
    outcome = decided(told, *proposed)

    assert isinstance(outcome, Commitment | RepairAct)
    assert outcome == decode(type(outcome), encode(outcome))
    if isinstance(outcome, RepairAct):
        assert choose_act(told, outcome.reason) is outcome.act
        assert outcome.text


@MANY
@given(situations(), asked)
def test_no_commitment_violates_a_predicate(told, proposed):
    """What is committed holds under each applicable predicate, judged here once more."""
    outcome = decided(told, *proposed)
    if not isinstance(outcome, Commitment):
        return
    cited = [unit for unit in told.units if unit.unit_id in outcome.evidence_ids]
    scope = Scope(
        slots=slots_of(outcome),
        state={slot: state.value for (_, slot), state in told.slots.items()},
        units=tuple(UnitValue(unit.unit_id, unit.slot, unit.value) for unit in cited),
        as_of_ms=told.as_of_ms,
    )
    for item in told.contract:
        predicate = item.row.predicate
        if applies(predicate, commitment_type="meal", occasion=name_occasion(told)):
            assert "holds" == judge(predicate, scope).verdict.value


@MANY
@given(situations(), asked)
def test_no_commitment_leaves_a_requirement_unmet(told, proposed):
    """What is committed carries the required slots and cites the required dimensions."""
    outcome = decided(told, *proposed)
    if not isinstance(outcome, Commitment):
        return
    report = next(
        one for one in outcome.certificate.candidates if one.digest == outcome.candidate_digest
    )
    cited = {
        dimension
        for unit in told.units
        if unit.unit_id in outcome.evidence_ids
        for dimension in unit.dimensions
    }

    assert (0, (), 0, ()) == (
        report.violations, report.unmet, report.infeasible, report.unsupported
    )  # fmt: skip
    for requirement in derive_requirements(told):
        if not binds(told, requirement, "meal"):
            continue
        if requirement.kind is RequirementKind.SLOT:
            assert not is_empty(slots_of(outcome).get(requirement.argument))
        if requirement.kind is RequirementKind.DIMENSION:
            assert requirement.argument in cited


@MANY
@given(situations(), asked, st.randoms(use_true_random=False))
def test_order_and_repetition_of_candidates_change_nothing(told, proposed, draw):
    """A permutation of the candidates, some of them twice, gives the same bytes."""
    shuffled = [*proposed, *proposed[:2]]
    draw.shuffle(shuffled)

    assert encode(decided(told, *proposed)) == encode(decided(told, *shuffled))


@MANY
@given(situations(), asked)
def test_the_chosen_candidate_has_the_greatest_utility_of_the_feasible(told, proposed):
    """The commitment is argmax S over F_t, ties by digest."""
    outcome = decided(told, *proposed)
    if not isinstance(outcome, Commitment):
        return
    feasible = [
        (-one.utility, one.digest)
        for one in outcome.certificate.candidates
        if not one.unsupported and not one.violations and not one.unmet
    ]

    assert min(feasible) == (-outcome.utility, outcome.candidate_digest)


@MANY
@given(situations(), asked)
def test_a_feasible_candidate_is_never_withheld(told, proposed):
    """A repair act means F_t is empty, or that the history itself forbids deciding."""
    outcome = decided(told, *proposed)
    if isinstance(outcome, RepairAct) and outcome.reason not in {
        Reason.HISTORY_INCOMPLETE,
        Reason.USER_HALTED,
    }:
        assert all(
            one.unsupported or one.violations or one.unmet for one in outcome.certificate.candidates
        )
        assert all(one.infeasible or one.unsupported for one in outcome.certificate.candidates)


@MANY
@given(situations(), asked)
def test_repair_acts_give_no_value_of_a_candidate_away(told, proposed):
    """A dish that only candidates name is never in a repair act."""
    silent = replace(
        told,
        contract=tuple(
            item for item in told.contract if "dish" not in item.row.predicate.expression
        ),
        proposals=(),
        slots={key: value for key, value in told.slots.items() if key[1] != "dish"},
        stated={key: value for key, value in told.stated.items() if key[1] != "dish"},
        request=replace(told.request, asks=()),
        units=(),
        commitments={},
    )
    outcome = decided(silent, *proposed)
    if isinstance(outcome, RepairAct):
        shown = repr(replace(outcome, certificate=None)).casefold()
        assert not any(dish in shown for dish in DISHES)


@MANY
@given(situations())
def test_what_is_decided_early_is_decided_again_without_candidates(told):
    """An early act stands: an empty list of candidates gives the same reason and act."""
    act = early(told)
    if act is None:
        return
    again = decided(told)

    assert (act.act, act.reason, act.question) == (again.act, again.reason, again.question)
    assert repair_early(told, derive_requirements(told), basis(told.units)) == act


@MANY
@given(situations(), asked)
def test_every_outcome_folds_into_rows_that_can_be_stored(told, proposed):
    """Consequences are total: whatever the outcome, its rows go through their bytes."""
    outcome = decided(told, *proposed)
    changes = fold_outcome(Rows().view(), told, basis(told.units), outcome)

    for (record, _), row in changes.items():
        assert row is None or row == decode(record, encode(row))


@MANY
@given(situations(), asked)
def test_every_digest_an_act_offers_is_open_once_it_is_folded(told, proposed):
    """What an act offers can be confirmed: its digests are open proposals afterwards."""
    outcome = decided(told, *proposed)
    if not isinstance(outcome, RepairAct):
        return
    changes = fold_outcome(Rows().view(), told, basis(told.units), outcome)
    opened = {row.digest for row in told.proposals}
    opened |= {row.digest for (kind, _), row in changes.items() if kind.__name__ == "ProposalRow"}
    offered = [one.digest for one in outcome.relaxations if one.digest is not None]
    if outcome.question is not None:
        offered += [one.digest for one in outcome.question.options]

    assert set(offered) <= opened
    assert digest(outcome) == digest(decided(told, *proposed))
