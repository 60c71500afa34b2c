"""How a conversation looks: the dialogue left; contract, packet and decision right of it.

Nothing that a user or model wrote is taken as markup, and control characters are named.
"""

from collections.abc import Iterable
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from infra.chat.session import Session
from infra.cli.reading import describe
from schemas.outcome import RepairAct
from schemas.packet import Packet

WIDE: Final = 100
"""Columns from which the panels stand side by side."""
LINES_SHOWN: Final = 14
ROWS_SHOWN: Final = 8

_STYLES: Final = {"you": "bold", "system": "green", "log": "dim"}


def draw(session: Session, console: Console) -> None:
    """Print the conversation as it stands."""
    left: RenderableType = Panel(_dialogue(session), title=f"scene {show(session.scene)}")
    right = Group(
        Panel(_contract(session), title="contract"),
        Panel(_packet(session.packet), title="packet"),
        Panel(_decision(session), title="decision"),
    )
    if console.width < WIDE:
        console.print(Group(left, right))
        return
    grid = Table.grid(expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(left, right)
    console.print(grid)


def show(text: str) -> str:
    """Return text without control characters: each is named instead."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def _dialogue(session: Session) -> Text:
    text = Text()
    for who, line in session.lines[-LINES_SHOWN:]:
        text.append(f"{who}: ", style=_STYLES[who])
        text.append(show(line) + "\n")
    return text


def _contract(session: Session) -> Text:
    standing = session.look()
    text = Text()
    for row in standing.contract:
        unless = f" unless {row.predicate.unless}" if row.predicate.unless else ""
        text.append(f"{show(row.predicate.expression + unless)}  ", style="bold")
        text.append(f"[{show(row.predicate.predicate_id)}]\n", style="dim")
    if not standing.contract:
        text.append("nothing confirmed\n", style="dim")
    listed = list(enumerate(standing.proposals, 1))
    for number, proposal in listed[:ROWS_SHOWN]:
        expression = show(proposal.predicate.expression)
        text.append(f"open {number}: {expression} ({proposal.authority.value})\n")
    return _more(text, listed)


def _packet(packet: Packet | None) -> Text:
    if packet is None:
        return Text("none: decided without generation", style="dim")
    text = Text(
        f"{packet.cost_main}/{packet.budget_main} + {packet.cost_tail}/{packet.budget_tail} spent, "
        f"gap {packet.gap}\n"
    )
    for unit in packet.units[:ROWS_SHOWN]:
        text.append(f"{unit.unit_id} {show(unit.content)[:60]}\n")
    _more(text, packet.units)
    for item in packet.coverage[:ROWS_SHOWN]:
        requirement = item.requirement
        text.append(f"{requirement.kind.value}:{show(requirement.argument)} {item.status.value}\n")
    return text


def _decision(session: Session) -> Text:
    outcome = session.outcome
    if outcome is None:
        return Text("pending" if session.packet is not None else "nothing asked yet", style="dim")
    _, what, detail = describe(outcome)
    text = Text(f"{show(what)}\n", style="bold")
    text.append(f"{show(detail)}\n", style="not bold")
    if isinstance(outcome, RepairAct) and outcome.question is not None:
        for slot in outcome.question.slots:
            text.append(f'/answer {show(slot)}="..."\n')
        for option in outcome.question.options:
            text.append(f"yes confirms {show(option.expression)}\n")
    for report in outcome.certificate.candidates[:ROWS_SHOWN]:
        nu = (report.violations, len(report.unmet), report.infeasible, -report.utility)
        text.append(f"nu {nu} {'; '.join(report.unsupported)[:60]}\n")
    return text


def _more(text: Text, rows: Iterable[object]) -> Text:
    hidden = len(list(rows)) - ROWS_SHOWN
    if hidden > 0:
        text.append(f"... and {hidden} more\n", style="dim")
    return text
