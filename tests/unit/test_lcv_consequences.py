"""What an outcome changes in the rows (spec 5.6)."""

from dataclasses import replace

from processors.validation.consequences import fold_outcome
from processors.validation.validation import check_surface
from schemas.catalogue import Authority, ObligationTemplate
from schemas.row import (
    ActivationRow,
    CommitmentRow,
    ConsequenceRow,
    EpisodeRow,
    ObligationRow,
    QuestionRow,
    SlotRow,
    TurnRow,
)
from tests.given import Rows
from tests.lcv import amendment, basis, candidate, commitment, decided, early, over, state, typed
from tests.situations import scene, slot, unit

MEAL = typed(
    "meal",
    slot("dish"),
    slot("note"),
    opens=(ObligationTemplate("bill", "payment", 60_000, ("dinner",)),),
    discharges=("allergy",),
)


def changed(told, outcome, *kinds):
    """Return the changed rows of these records by id."""
    changes = fold_outcome(Rows().view(), told, basis(told.units), outcome)
    return {row_id: row for (kind, row_id), row in changes.items() if kind in kinds}


def test_a_commitment_becomes_state_in_its_own_step():
    """Its slots are statements worth ``inferred``; null slots make nothing true."""
    told = over(types=(MEAL,))
    outcome = decided(told, candidate(dish="rice", note=None))

    (row,) = changed(told, outcome, SlotRow).values()
    (made,) = changed(told, outcome, ConsequenceRow).values()

    assert ("dish", "rice", Authority.INFERRED, 9) == (
        row.slot, row.value, row.authority, row.seq
    )  # fmt: skip
    assert (outcome.commitment_id, "answer", 1_000) == (
        made.commitment_id, made.event_id, made.effective_ms
    )  # fmt: skip


def test_a_commitment_opens_and_settles_debt():
    """What its type opens is due from its effective time; what it settles is discharged."""
    told = over(
        types=(MEAL,),
        obligations=(
            ("o1", ObligationRow("allergy", None, (), "e1", 1, None)),
            ("o2", ObligationRow("other", None, (), "e1", 1, None)),
        ),
    )
    outcome = decided(told, candidate(dish="rice"))

    rows = changed(told, outcome, ObligationRow)
    opened = rows.pop(f"{outcome.commitment_id}:1:bill")

    assert ("payment", 61_000, ("dinner",), None) == (
        opened.dimension, opened.due_ms, opened.blocks, opened.discharged_seq
    )  # fmt: skip
    assert {"o1": 9} == {row_id: row.discharged_seq for row_id, row in rows.items()}
    assert ("o1",) == outcome.discharged


def test_an_amendment_makes_the_next_version():
    """The commitment keeps its id, its other slots, and gets version and result anew."""
    told = over(
        types=(MEAL,), commitments={"c1": commitment(dish="rice", note="quiet", result="succeeded")}
    )
    outcome = decided(told, amendment(dish="soup"))

    row = changed(told, outcome, CommitmentRow)["c1"]

    assert (2, "pending", {"dish": "soup", "note": "quiet"}) == (
        row.version, row.result, {slot.name: slot.value for slot in row.slots}
    )  # fmt: skip


def test_every_outcome_ends_its_turn_and_moves_what_was_shown():
    """Z* of the last two turns is remembered, also when nothing was committed."""
    told = over(types=(MEAL,), units=(unit("1#0"),), activation=ActivationRow(("old",), ("older",)))
    for outcome, name in (
        (decided(told, candidate(dish="x")), "commitment"),
        (decided(told), "abstain"),
    ):
        assert name == changed(told, outcome, TurnRow)["turn"].outcome
        assert ActivationRow(("1#0",), ("old",)) == changed(told, outcome, ActivationRow)[""]


def test_a_commitment_closes_the_questions_of_its_scene():
    """What was asked for it is answered by it, and questions count anew."""
    mine = QuestionRow("k", "dinner", "", ("dish",), (), "t", 4, "open")
    other = replace(mine, scene="lunch")
    told = over(
        types=(MEAL,),
        questions=(("q1", mine), ("q2", other)),
        episode=EpisodeRow(5, 0, None, 4, 3, None),
    )
    outcome = decided(told, candidate(dish="rice"))

    assert {"q1": "closed"} == {
        row_id: row.status for row_id, row in changed(told, outcome, QuestionRow).items()
    }
    assert (
        EpisodeRow(0, 9, outcome.commitment_id, None, 3, None)
        == (changed(told, outcome, EpisodeRow)["dinner"])
    )


def test_a_question_is_counted_and_kept():
    """Its key, slots and position stay, so that it is not asked twice for nothing."""
    told = over(types=(MEAL,), in_scene=scene(required_slots=("dish",)))
    act = early(told)

    row = changed(told, act, QuestionRow)[act.question.question_id]

    assert (("dish",), 9, "open", "dinner") == (row.slots, row.asked_seq, row.status, row.scene)
    assert 1 == changed(told, act, EpisodeRow)["dinner"].questions


def test_an_unclear_answer_leaves_one_question_open():
    """The question that joins all others takes their place."""
    told = over(
        types=(MEAL,),
        questions=tuple(
            (name, QuestionRow(name, "dinner", "", (name,), (), "t", 4, "open"))
            for name in ("dish", "note")
        ),
        episode=EpisodeRow(2, 0, None, None, 0, 6),
    )
    act = early(told)

    rows = changed(told, act, QuestionRow)

    assert {"dish": "closed", "note": "closed", act.question.question_id: "open"} == {
        row_id: row.status for row_id, row in rows.items()
    }
    assert changed(told, act, EpisodeRow)["dinner"].ambiguous_seq is None


def test_there_is_no_phrasing_without_a_commitment():
    """A turn that ended in a repair act has nothing to phrase."""
    view = Rows().view()
    told = over(types=(MEAL,))
    view.rows.apply(*("acme", "ada"), fold_outcome(view, told, basis(), decided(told)))

    assert check_surface(view, turn_id="turn", seq=10, text="x", catalogue=told.catalogue) is None
    assert check_surface(view, turn_id="none", seq=10, text="x", catalogue=told.catalogue) is None


def test_what_is_stated_and_true_needs_no_state():
    """A commitment's value below the user's own statement does not overwrite it."""
    told = over(types=(MEAL,), slots={("", "dish"): state("rice")})
    view = Rows().view()
    mine = SlotRow("", "dish", "rice", Authority.ASSERTED, "e1", 1, 0, None, ())
    view.rows.apply("acme", "ada", {(SlotRow, "\0dish"): mine})

    changes = fold_outcome(view, told, basis(), decided(told, candidate(dish="soup")))

    assert ("rice", Authority.ASSERTED) == (
        changes[SlotRow, "\0dish"].value, changes[SlotRow, "\0dish"].authority
    )  # fmt: skip
