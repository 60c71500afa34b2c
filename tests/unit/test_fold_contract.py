"""The contract: confirmed, replaced, revoked, lapsed; never by the back door (spec 2)."""

from dataclasses import replace

from processors.compilation.contract import digest_contract
from schemas.agreement import (
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    ProposalDeclined,
)
from schemas.identity import predicate_digest
from schemas.observation import CommitmentObserved, HintKind, OutcomeObserved
from schemas.predicate import PredicateScope
from schemas.row import EpisodeRow, PredicateRow, ProposalRow
from schemas.turn import TurnCancelled
from tests.given import DAY_MS, START_MS, event, form, given, predicate, said, turn

VEGAN = predicate('slots.diet == "vegan"', "diet")
MEAT = predicate('slots.diet == "meat"', "diet")
NO_PORK = predicate('slots.dish != "pork"', "no-pork")


def confirmed(rule, replaces=()):
    """Return the confirmation that carries the predicate."""
    return PredicateConfirmed(None, rule, replaces)


def named(rule, replaces=()):
    """Return the confirmation that names the predicate's digest."""
    return PredicateConfirmed(predicate_digest(rule), None, replaces)


def proposed(rule, replaces=(), kind=HintKind.CONSTRAINT):
    """Return a proposal."""
    return PredicateProposed(rule, replaces, kind)


def in_force(history):
    """Return the expressions in force by predicate id."""
    return {
        row.predicate.predicate_id: row.predicate.expression
        for _, row in history.scan(PredicateRow)
        if row.ended_seq is None
    }


def test_a_proposal_is_in_no_contract():
    """Proposing, by whomever, puts nothing into force (spec 1.8)."""
    history = given([event(proposed(VEGAN)), event(proposed(MEAT), by="assistant:a")])

    assert {} == in_force(history)
    assert ["open", "open"] == [row.status for _, row in history.scan(ProposalRow)]


def test_confirming_a_digest_puts_what_was_proposed_into_force():
    """The digest names exactly what was shown; its proposal is closed as confirmed."""
    history = given([event(proposed(NO_PORK), by="assistant:a"), event(named(NO_PORK))])
    row = history.scan(PredicateRow)[0][1]

    assert {"no-pork": NO_PORK.expression} == in_force(history)
    assert predicate_digest(NO_PORK) == row.digest
    assert ("user", "ada", 2) == (row.principal_kind.value, row.principal_id, row.seq)
    assert ["confirmed"] == [row.status for _, row in history.scan(ProposalRow)]


def test_a_new_version_replaces_the_old_one():
    """Confirming an id again ends the version before it; the row keeps its history."""
    history = given([event(confirmed(VEGAN)), event(confirmed(MEAT))])
    rows = [row for _, row in history.scan(PredicateRow)]

    assert {"diet": MEAT.expression} == in_force(history)
    assert [2, None] == [row.ended_seq for row in rows]
    assert rows[0].ended_by.startswith("replaced:")
    assert VEGAN.expression == history.situation().contract[0].predecessor.predicate.expression


def test_replaces_puts_other_predicates_out_of_force():
    """``replaces`` of confirmation and proposal name what ends with it (spec 1.8)."""
    wide = predicate('slots.dish not_in ["pork", "beef"]', "no-meat")
    history = given([event(confirmed(NO_PORK)), event(proposed(wide, ("no-pork",)))])
    history.send(event(named(wide)))

    assert {"no-meat": wide.expression} == in_force(history)


def test_a_model_cannot_have_a_rule_replaced_by_a_harmless_one():
    """The digest does not cover what a proposal would replace, so a model's wish is void."""
    harmless = predicate('slots.colour == "red"', "colour")
    history = given(
        [event(confirmed(NO_PORK)), event(proposed(harmless, ("no-pork",)), by="assistant:a")]
    )
    history.send(event(named(harmless)))
    assert ["colour", "no-pork"] == sorted(in_force(history))

    history.send(event(confirmed(harmless, ("no-pork",))))
    assert ["colour"] == sorted(in_force(history))
    assert 3 == history.head().contract_version


def test_versions_and_digest_follow_changes_only():
    """The version counts changes; the digest is over what is in force, sorted by id (2.1)."""
    history = given([event(said("x"))])
    empty = history.situation()
    history.send(event(confirmed(NO_PORK)), event(confirmed(VEGAN)))
    both = history.situation()
    history.send(event(said("y")), event(confirmed(VEGAN)))
    again = history.situation()
    history.send(event(PredicateRevoked("diet")), event(PredicateRevoked("no-pork")))

    versions = [empty.contract_version, both.contract_version, again.contract_version]
    assert [0, 2, 2] == versions
    assert both.contract_digest == again.contract_digest
    assert empty.contract_digest == history.situation().contract_digest == digest_contract(())
    assert 4 == history.situation().contract_version
    assert ["diet", "no-pork"] == [item.row.predicate.predicate_id for item in both.contract]


def test_revoking_ends_from_here_on():
    """A revoked predicate keeps its row; what is unknown is ignored, not an error."""
    history = given([event(confirmed(VEGAN))])
    revoked = history.send(event(PredicateRevoked("diet"), at_ms=START_MS + DAY_MS))
    unknown = history.send(event(PredicateRevoked("never")))
    row = history.scan(PredicateRow)[0][1]

    assert ("", "not_in_force") == (revoked.ignored, unknown.ignored)
    assert {} == in_force(history)
    assert (2, START_MS + DAY_MS) == (row.ended_seq, row.ended_ms)


def test_a_late_correction_does_not_bring_a_revoked_predicate_back():
    """A correction that waited while its predicate was revoked is superseded (report R50)."""
    late = event(confirmed(MEAT, ("diet",)), at_ms=START_MS + 1)
    history = given([event(confirmed(VEGAN)), event(PredicateRevoked("diet"), at_ms=START_MS + 2)])

    assert "superseded" == history.send(late).ignored
    assert {} == in_force(history)


def test_a_late_confirmation_without_replaces_does_not_come_back_either():
    """The same id, said before it was revoked, is superseded; said afterwards it is new."""
    history = given([event(confirmed(VEGAN)), event(PredicateRevoked("diet"), at_ms=START_MS + 2)])
    late = history.send(event(confirmed(MEAT), at_ms=START_MS + 1))
    assert ("superseded", {}) == (late.ignored, in_force(history))

    anew = history.send(event(confirmed(MEAT), at_ms=START_MS + 3))
    assert ("", {"diet": MEAT.expression}) == (anew.ignored, in_force(history))


def test_confirming_what_is_in_force_changes_nothing():
    """The same predicate again is no new version, but it counts as a confirmation."""
    history = given([event(confirmed(VEGAN))])
    again = history.send(event(confirmed(VEGAN)))

    assert "in_force" == again.ignored
    assert 1 == history.head().contract_version


def test_a_declined_proposal_stays_declined_for_models():
    """Repetition by a model does not ask again; the user's own word does (spec 1.8)."""
    digest = predicate_digest(NO_PORK)
    history = given([event(proposed(NO_PORK), by="assistant:a"), event(ProposalDeclined(digest))])
    again = history.send(event(proposed(NO_PORK), by="assistant:a"))
    assert ("declined", "declined") == (again.ignored, history.scan(ProposalRow)[0][1].status)

    history.send(event(proposed(NO_PORK)))
    assert "open" == history.scan(ProposalRow)[0][1].status


def test_a_confirmed_value_is_also_the_state():
    """``slots.x == literal`` confirmed states the slot, so that contract and state agree."""
    history = given([event(form(diet="meat")), event(confirmed(VEGAN))])
    assert ("vegan", "confirmed") == history.slot("diet")
    assert "vegan" == history.situation().slots["", "diet"].value

    history.send(event(form(diet="soup")))
    assert ("vegan", "confirmed") == history.slot("diet")

    history.send(event(PredicateRevoked("diet")))
    assert ("soup", "asserted") == history.slot("diet")
    assert "soup" == history.situation().slots["", "diet"].value


def test_a_predicate_of_some_scenes_states_nothing():
    """What holds in one scene only is no state of the user."""
    history = given([event(confirmed(replace(VEGAN, scenes=("dinner",))))])

    assert history.slot("diet") is None


def test_relative_thresholds_are_resolved_at_confirmation():
    """The row holds instants; the digest stays that of what was confirmed (spec 2.5)."""
    notice = predicate('slots.start >= after("P1M")', "notice")
    history = given([event(confirmed(notice), zone="Europe/Paris")])
    row = history.scan(PredicateRow)[0][1]

    assert predicate_digest(notice) == row.digest
    assert "slots.start >= timestamp(1769904000000)" == row.predicate.expression
    assert "Europe/Paris" == row.predicate.zone


EPISODE = predicate('slots.dish != "beef"', "no-beef", scope=PredicateScope.EPISODE)


def booked(scene="dinner"):
    """Return a commitment made elsewhere."""
    return event(CommitmentObserved("c1", scene, "meal", ()), by="tool:t")


def outcome(*, succeeded, scene="dinner", commitment_id=None):
    """Return what became of a commitment."""
    return event(OutcomeObserved(scene, commitment_id, succeeded, (), (), ()), by="tool:t")


def test_episode_predicates_lapse_on_success():
    """Success in their scene, or in any when they name none, ends them; standing ones stay."""
    dinner = replace(EPISODE, predicate_id="dinner-only", scenes=("dinner", "lunch"))
    other = replace(EPISODE, predicate_id="elsewhere", scenes=("travel",))
    rules = [event(confirmed(rule)) for rule in (EPISODE, dinner, other, NO_PORK)]
    history = given([*rules, booked(), outcome(succeeded=False)])
    assert 4 == len(in_force(history))

    history.send(outcome(succeeded=True))
    assert ["elsewhere", "no-pork"] == sorted(in_force(history))


def test_episode_predicates_lapse_when_the_turn_is_cancelled():
    """Cancelling a pending turn ends the episode predicates of its scene (spec 2.2)."""
    asked = event(turn(), event_id="t")
    history = given([event(confirmed(EPISODE)), asked])
    history.open_turn(asked)
    history.send(event(TurnCancelled("t")))

    assert {} == in_force(history)
    assert history.scan(PredicateRow)[0][1].ended_by.startswith("lapsed:")


def test_a_confirmation_clears_a_failure():
    """After a failed commitment any confirmation lets the scene be tried anew (5.7 (1))."""
    history = given([booked(), outcome(succeeded=False)])
    assert 2 == history.get(EpisodeRow, "dinner").failed_seq

    history.send(event(confirmed(NO_PORK)))
    episode = history.get(EpisodeRow, "dinner")
    assert (None, 3) == (episode.failed_seq, episode.confirmed_seq)


def test_an_exception_makes_a_tail_witness():
    """A rule's unit carries its slots and dimensions; with an exception it is a witness."""
    rule = predicate(
        'slots.channel != "phone"',
        "no-phone",
        unless='slots.topic == "emergency"',
        dimensions=("contact",),
    )
    history = given([event(confirmed(rule))])
    unit = history.situation().units[0]

    assert ("1#p:no-phone", "no-phone") == (unit.unit_id, unit.predicate_id)
    assert ("channel", "contact", "topic") == unit.dimensions
    assert unit.tail_witness
    assert "confirmed" == unit.authority.value


def test_a_broad_text_does_not_replace_a_rule():
    """An utterance, however similar, leaves the rule and its exception alone (report R02)."""
    rule = predicate('slots.channel not_in ["phone"]', "P1", unless='slots.topic == "school"')
    history = given([event(confirmed(rule)), event(said("Please never call me."))])

    assert {"P1": rule.expression} == in_force(history)
    assert 'slots.topic == "school"' == history.situation().contract[0].row.predicate.unless


def test_findings_are_recorded_and_never_block():
    """A doubtful predicate is proposed and confirmed all the same; its doubt is kept (2.6)."""
    history = given([event(confirmed(VEGAN)), event(proposed(predicate(MEAT.expression, "again")))])
    proposal = history.scan(ProposalRow)[0][1]
    history.send(event(named(proposal.predicate)))
    row = dict(history.scan(PredicateRow))[f"again\0{3:016d}"]

    assert ["again", "diet"] == sorted(in_force(history))
    assert proposal.findings == row.findings
    assert row.findings[0].startswith("contradictory: no value satisfies it together with diet")


def test_what_a_predicate_replaces_does_not_contradict_it():
    """A new version is compared with what stays in force beside it."""
    history = given([event(confirmed(VEGAN)), event(confirmed(MEAT))])

    assert [(), ()] == [row.findings for _, row in history.scan(PredicateRow)]
