"""Commitments, obligations, verdicts and control records as the world reports them (spec 1.8)."""

from dataclasses import replace

from processors.compilation.control import is_incomplete
from processors.compilation.draft import owner_of
from schemas.agreement import (
    CheckVerdict,
    ObligationDischarged,
    ObligationOpened,
    VerdictRecorded,
)
from schemas.candidate import SlotValue
from schemas.control import (
    CatalogueActivated,
    ErasureCompleted,
    HistoryAttested,
    RulesetActivated,
    UserRefolded,
)
from schemas.identity import catalogue_digest
from schemas.observation import Alternative, CommitmentObserved, OutcomeObserved
from schemas.row import (
    CommitmentRow,
    ConsequenceRow,
    EpisodeRow,
    ObligationRow,
    RegimeRow,
    UserHead,
    VerdictRow,
)
from tests.given import control, default_catalogue, event, form, given, said, statement


def booked(commitment_id="c1", **slots):
    """Return a commitment made elsewhere."""
    values = tuple(SlotValue(name, value) for name, value in slots.items())
    return event(CommitmentObserved(commitment_id, "dinner", "meal", values), by="tool:t")


def outcome(*, succeeded, commitment_id=None, alternatives=(), statements=()):
    """Return what became of a commitment."""
    return event(
        OutcomeObserved("dinner", commitment_id, succeeded, statements, alternatives, ()),
        by="tool:t",
    )


def test_a_commitment_made_elsewhere_can_be_amended():
    """Seen again it is the next version of the same commitment."""
    history = given([booked(dish="soup"), booked(dish="rice")])
    row = history.get(CommitmentRow, "c1")

    assert (2, "rice", "pending") == (row.version, row.slots[0].value, row.result)
    assert "c1" == history.get(EpisodeRow, "dinner").last_commitment_id


def test_an_outcome_is_that_of_the_last_commitment_unless_named():
    """Without id the scene's last commitment is meant; alternatives are kept with it."""
    offered = (Alternative((SlotValue("dish", "rice"),)),)
    history = given([booked("c1"), booked("c2")])
    history.send(outcome(succeeded=False, alternatives=offered))
    history.send(outcome(succeeded=True, commitment_id="c1"))
    rows = [history.get(CommitmentRow, name) for name in ("c1", "c2")]

    assert ["succeeded", "failed"] == [row.result for row in rows]
    assert offered == rows[1].alternatives
    assert 3 == history.get(EpisodeRow, "dinner").failed_seq


def test_only_the_last_commitments_failure_counts_for_the_scene():
    """An older commitment that fails does not stop the scene (spec 5.7 (1))."""
    history = given([booked("c1"), booked("c2"), outcome(succeeded=False, commitment_id="c1")])

    assert history.get(EpisodeRow, "dinner").failed_seq is None


def test_success_begins_a_new_episode():
    """Questions count anew after a success."""
    history = given([booked()])
    episode = replace(history.get(EpisodeRow, "dinner"), questions=5)
    history.rows.apply("acme", "ada", {(EpisodeRow, "dinner"): episode})
    history.send(outcome(succeeded=True))

    assert (0, 2) == (
        history.get(EpisodeRow, "dinner").questions,
        history.get(EpisodeRow, "dinner").started_seq,
    )


def test_an_outcome_of_nothing_is_ignored_but_its_slots_count():
    """An unknown commitment has no result; what the tool observed is still evidence."""
    history = given([outcome(succeeded=True)])
    assert "unknown_commitment" == history.fates[-1].ignored

    history.send(outcome(succeeded=True, statements=(statement("seats", 2),)))
    assert ("", (2, "observed")) == (history.fates[-1].ignored, history.slot("seats"))


def test_what_a_failed_commitment_made_true_holds_no_more():
    """Its consequences leave the state with its failure, and come back with its success."""
    history = given([event(form(diet="vegan")), booked()])
    made = ConsequenceRow("c1", "x", 0, "", (SlotValue("table", "7"),))
    history.rows.apply("acme", "ada", {(ConsequenceRow, f"{2:016d}"): made})
    key = ("", "table")

    assert "inferred" == history.situation().slots[key].authority.value
    history.send(outcome(succeeded=False))
    assert key not in history.situation().slots
    history.send(outcome(succeeded=True))
    assert "7" == history.situation().slots[key].value
    assert ("7", "inferred") == history.slot("table")


def test_obligations_open_once_and_end():
    """Debt stays until it is discharged (report R20); what is not open cannot be discharged."""
    opened = ObligationOpened("o1", "landlord_reply", None, ("dinner",))
    history = given([event(opened, by="tool:t")])
    again = history.send(event(opened, by="tool:t"))
    assert ["o1"] == [row_id for row_id, _ in history.situation().obligations]

    history.send(event(ObligationDischarged("o1"), by="tool:t"))
    late = history.send(event(ObligationDischarged("o1"), by="tool:t"))
    assert ("already_open", "no_open_obligation") == (again.ignored, late.ignored)
    assert () == history.situation().obligations
    assert 3 == history.get(ObligationRow, "o1").discharged_seq


def test_the_last_verdict_of_a_check_counts():
    """An external check may be repeated; its row is found by candidate digest and check."""
    passed = VerdictRecorded("stock", bytes(32), CheckVerdict.PASS, "")
    failed = VerdictRecorded("stock", bytes(32), CheckVerdict.FAIL, "sold out")
    history = given([event(passed, by="tool:t"), event(failed, by="tool:t")])

    assert "fail" == history.get(VerdictRow, f"{bytes(32).hex()}\0stock").verdict.value


def test_control_records_take_no_seq():
    """They change what is in force for the partition and no user's head."""
    other = default_catalogue(name="other")
    history = given([event(said("x"))])
    history.send(control(RulesetActivated(2)), control(CatalogueActivated(other)))
    history.send(control(ErasureCompleted("acme", "ada", (), "receipt")))
    regime = history.get(RegimeRow)

    assert (2, catalogue_digest(other)) == (regime.ruleset, regime.catalogue_digest)
    assert 1 == history.head().seq


def test_a_turn_is_read_under_the_catalogue_that_it_names():
    """A later activation does not change the catalogue of a turn that named its own (3.4)."""
    first = default_catalogue()
    history = given([event(said("x"))])
    history.send(control(CatalogueActivated(default_catalogue(name="other"))))
    named = history.situation(catalogue_digest=catalogue_digest(first))

    assert "table" == named.catalogue.name
    assert catalogue_digest(first) == named.regime.catalogue_digest
    assert "other" == history.situation().catalogue.name


def open_gap(history):
    """Note one more gap, as the driver does."""
    regime = history.get(RegimeRow)
    history.rows.apply("", "", {(RegimeRow, ""): replace(regime, gaps=regime.gaps + 1)})


def test_a_gap_makes_every_user_incomplete_until_attested():
    """Also users seen later; an operator vouches for a user, a tenant or all (spec 1.8)."""
    history = given([event(said("x"))])
    open_gap(history)

    def incomplete(tenant, user):
        return is_incomplete(history.rows.view(tenant, user), history.get(RegimeRow))

    assert history.situation().incomplete
    assert incomplete("acme", "new")
    history.send(control(HistoryAttested("acme", "ada")))
    assert not history.situation().incomplete
    assert incomplete("acme", "new")
    history.send(control(HistoryAttested("acme", None)))
    assert not incomplete("acme", "new")
    assert incomplete("other", "new")
    history.send(control(HistoryAttested(None, None)))
    assert not incomplete("other", "new")
    open_gap(history)
    assert history.situation().incomplete


def test_a_refold_releases_a_halted_user():
    """UserRefolded is folded over the rows of the user that it names."""
    history = given([event(said("x"))])
    head = replace(history.head(), halted=True)
    history.rows.apply("acme", "ada", {(UserHead, ""): head})
    release = control(UserRefolded("acme", "ada"))

    assert ("acme", "ada") == owner_of(release)
    assert history.situation().halted
    assert "" == history.send(release).ignored
    assert not history.head().halted
    assert "not_halted" == history.send(release).ignored
