"""A conversation in the terminal: what each line does, and what stands beside it."""

import io
import sys
from pathlib import Path

import pexpect
import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from infra.appending import append_events
from infra.chat.commands import LineError, run_line
from infra.chat.session import Session
from infra.chat.terminal import converse
from infra.cli.console import open_log
from infra.gateway.embedded_control import EmbeddedControl
from infra.gateway.speaking import Speaker, propose_candidates
from infra.genesis import build_genesis
from schemas.catalogue import Catalogue, SlotType
from schemas.event import Principal, PrincipalKind
from schemas.outcome import Act, Commitment, RepairAct
from schemas.packet import Packet
from tests.lcv import candidate, typed
from tests.situations import scene, slot

BOOKING = typed(
    "booking",
    slot("day"),
    slot("seats", slot_type=SlotType.INT),
    slot("kitchen", choices=("Thai",)),
    required_slots=("day",),
)
ORDER = typed("order", slot("dish"), required_slots=("dish",), confirm_carried=True)
CATALOGUE = Catalogue(
    "k",
    (scene(commitment_types=("booking",)), scene("kitchen", commitment_types=("order",))),
    (BOOKING, ORDER),
    (),
    (),
)
START_MS = 1_772_190_000_000


class Booker:
    """Answers every packet with one candidate: Monday, and for two."""

    def answer(self, packet, _catalogue):
        """Return the candidate's event."""
        offered = candidate("booking", day="Monday", seats=2)
        payload = propose_candidates(packet.turn_id, (offered,))
        by = Principal(PrincipalKind.GENERATOR, "booker")
        return Speaker(packet.tenant, packet.user).say(payload, by=by, at_ms=packet.as_of_ms)


@pytest.fixture
def session(tmp_path):
    """A conversation of ada at the beginning, over a log of its own; a second passes per event."""
    ticks = iter(range(START_MS, START_MS * 2, 1_000))
    with open_log(tmp_path / "log", must_exist=False) as embedded:
        append_events(embedded, [build_genesis(CATALOGUE)])
        control = EmbeddedControl(embedded)
        yield Session(
            control, control.find_catalogue(), Speaker("default", "ada"), "dinner",
            now_ms=lambda: next(ticks), answerer=Booker(),
        )  # fmt: skip


def expressions(session):
    """Return what is in force and what is open."""
    standing = session.look()
    return (
        [row.predicate.expression for row in standing.contract],
        [row.predicate.expression for row in standing.proposals],
    )


def test_a_person_states_confirms_asks_and_revokes(session):
    """Every line is an event: asked, told, committed; ruled, refused; revoked, committed again."""
    run_line(session, "A table please")
    asked = session.outcome
    run_line(session, '/answer day="Monday"')
    done = session.outcome
    run_line(session, '/confirm slots.seats <= 1 unless slots.day == "Friday"')
    run_line(session, "/ask")
    refused = session.outcome
    rule = session.look().contract[0].predicate
    run_line(session, f"/revoke {rule.predicate_id}")
    run_line(session, "/ask")

    assert (Act.CLARIFY, ("day",)) == (asked.act, asked.question.slots)
    assert isinstance(done, Commitment)
    assert 'slots.day == "Friday"' == rule.unless
    assert isinstance(refused, RepairAct)
    assert isinstance(session.outcome, Commitment)
    assert [] == expressions(session)[0]


def test_what_is_said_is_proposed_and_only_a_number_confirms_it(session):
    """Extraction opens proposals; "yes" without a question is only a word; /confirm 1 confirms."""
    run_line(session, "I don't want Thai")
    before = expressions(session)
    run_line(session, '/state day="Monday"')
    run_line(session, "hello")
    run_line(session, "yes")
    between = expressions(session)
    run_line(session, "/confirm 1")

    assert ([], ['slots.kitchen != "Thai"']) == before == between
    assert (['slots.kitchen != "Thai"'], []) == expressions(session)


def test_yes_answers_the_question_just_shown_and_no_other(session):
    """This is the user's own channel: a bare yes confirms what was asked, exactly that."""
    run_line(session, "/scene kitchen")
    run_line(session, '/state dish="soup"')
    run_line(session, "/ask")
    offered = [option.expression for option in session.outcome.question.options]
    run_line(session, "Yes.")

    assert ['slots.dish == "soup"'] == offered == expressions(session)[0]


@pytest.mark.parametrize(
    "line",
    ["/fly", "/state", "/state day", "/state day=Monday", "/confirm", "/confirm 7", "/decline x",
     "/revoke nothing", "/scene nowhere", "/answer day", '/confirm slots.day = "x"', "/state =1"],
)  # fmt: skip
def test_a_line_that_means_nothing_says_what_to_write(session, line):
    """Nothing is appended, and the message names the remedy."""
    with pytest.raises(LineError) as error:
        run_line(session, line)

    assert len(str(error.value)) > 20
    assert (None, []) == (session.outcome, session.lines)


def test_without_a_backend_the_packet_waits(session):
    """What the generator would see is shown, and the turn stays pending."""
    session.answerer = None
    run_line(session, '/state day="Monday"')
    run_line(session, "A table please")

    assert isinstance(session.packet, Packet)
    assert session.outcome is None


@pytest.mark.parametrize("width", [80, 140])
def test_the_panels_show_contract_packet_and_decision(session, width):
    """Scripted keys through the real loop: everything stands beside the dialogue, nothing runs."""
    page = io.StringIO()
    console = Console(file=page, width=width, force_terminal=False)
    with create_pipe_input() as keys:
        keys.send_text('[red]A table\x1b[2J\rx\x03/answer day="Monday"\r/help\r/fly\r\r/quit\r')
        converse(session, console, source=keys, sink=DummyOutput())
    shown = page.getvalue()

    for part in ("contract", "packet", "decision", "scene dinner", "Please tell me: day", "/revoke",
                 "Done: booking", "/fly is no command"):  # fmt: skip
        assert part in shown
    assert "\x1b" not in shown


def test_the_command_talks_in_a_real_terminal(tmp_path):
    """From the shell: a greeting that says simulated, a line, the panels, and a clean end."""
    log = tmp_path / "log"
    with open_log(log, must_exist=False) as embedded:
        append_events(embedded, [build_genesis(CATALOGUE)])
    command = str(Path(sys.executable).parent / "commitments")
    talk = pexpect.spawn(
        command, ["chat", "--log", str(log), "--user", "ada", "--backend", "simulated"],
        dimensions=(50, 120), encoding="utf-8", timeout=30,
    )  # fmt: skip
    talk.expect("candidates are simulated")
    talk.expect("decision")
    talk.sendline("A table please")
    talk.expect("Please tell me: day")
    talk.sendline("/quit")
    talk.expect(pexpect.EOF)
    talk.close()

    assert 0 == talk.exitstatus
