"""What a variant shows a generator: lines of text, each with what an ideal reader would take in.

The typed side of a line says no more than its text does; the simulated generator reads it with
errors, a real one reads the text alone. Labels are unknown here.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.candidate import SlotValue
from schemas.predicate import Predicate
from schemas.value import RecordValue


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its text, the unit that it can be cited by ("" none), and what it says.

    ``offer``, ``rule`` and ``withdrawn`` (event ids) are its content if it is of that kind;
    ``disliked`` is a feature it speaks against without being a rule; ``personal`` text of the
    user; ``owed`` evidence of an open obligation; ``failed`` reports a failed commitment.
    """

    key: str
    event_id: str
    text: str
    unit_id: str = ""
    dimensions: tuple[str, ...] = ()
    tail_witness: bool = False
    owed: bool = False
    offer: RecordValue | None = None
    rule: Predicate | None = None
    withdrawn: tuple[str, ...] = ()
    disliked: str = ""
    personal: bool = False
    failed: bool = False

    @property
    def cost(self) -> int:
        """Cost units: bytes of the line as shown."""
        return len(self.text.encode()) + 1


@dataclass(frozen=True, slots=True)
class Shown:
    """All that a generator gets for one turn.

    ``typed`` interfaces also say which dimensions must be cited (``required``) and list the
    contract; the others are text only. ``held`` are the units that a gate would accept.
    """

    fixture_id: str
    scene: str
    request: str
    asks: tuple[SlotValue, ...]
    lines: tuple[Line, ...]
    typed: bool = False
    required: tuple[str, ...] = ()
    contract: tuple[Predicate, ...] = ()

    @property
    def cost(self) -> int:
        """Cost units of the whole prompt: request, lines and contract."""
        contract = sum(len(rule.expression.encode()) + 1 for rule in self.contract)
        return len(self.request.encode()) + sum(line.cost for line in self.lines) + contract


def take_within(lines: Iterable[Line], budget: int) -> tuple[Line, ...]:
    """Return the lines, best first, that fit the budget; one that does not is passed over."""
    taken: list[Line] = []
    left = budget
    for line in lines:
        if line.cost <= left:
            taken.append(line)
            left -= line.cost
    return tuple(taken)
