"""What validation costs: 100 predicates x 8 candidates, certificate included.

Machines differ and are shared, so the time is that of the thread, and the figure to read is
the ratio to 800 bare calls of a Python function measured in the same run, round by round. A run
is void unless every repetition gives the same outcome, and it commits.
"""

import statistics
import sys
import time
from decimal import Decimal

from benchmarks.figures import Figure
from processors.activation.coverage import derive_requirements
from processors.validation.validation import decide
from schemas.catalogue import SlotType
from schemas.outcome import Commitment
from schemas.value import Money
from tests.lcv import basis, candidate, over, typed
from tests.situations import predicate, scene, slot, unit

PREDICATES = 100
CANDIDATES = 8
TARGET_MS = 2.0
AIM_MS = 1.0
ROUNDS = 200


def build():
    """Return situation, requirements, basis and candidates."""
    declared = typed(
        "booking",
        slot("name"),
        slot("people", slot_type=SlotType.INT),
        slot("price", slot_type=SlotType.MONEY),
        slot("tags", slot_type=SlotType.LIST),
        slot("channel"),
        required_slots=("name",),
    )
    forms = (
        'slots.channel not_in ["phone", "fax{n}"]',
        "slots.people <= {m}",
        'slots.tags excludes "nut{n}"',
        'slots.price <= money("{m}.00 EUR")',
        'slots.name != "place {n}"',
    )
    predicates = [
        predicate(f"P{n:03}", forms[n % len(forms)].format(n=n, m=n + 100))
        for n in range(PREDICATES)
    ]
    units = tuple(unit(f"{n}#0", ("place",)) for n in range(200, 240))
    told = over(
        *predicates,
        types=(declared,),
        in_scene=scene(commitment_types=("booking",), required_dimensions=("place",)),
        units=units,
    )
    candidates = tuple(
        candidate(
            "booking",
            cites=("200#0", "201#0"),
            name=f"Casa {n}",
            people=n + 1,
            price=Money(Decimal(n), "EUR"),
            tags=("quiet", "garden"),
            channel="mail",
        )
        for n in range(CANDIDATES)
    )
    return told, derive_requirements(told), basis(units), candidates


def compare():
    """Return thread times in ns of one decision and of 800 bare calls, round by round."""
    given = build()
    outcome = decide(*given)
    assert isinstance(outcome, Commitment), outcome
    assert all(len(one.verdicts) == PREDICATES for one in outcome.certificate.candidates)
    assert len(outcome.certificate.candidates) == CANDIDATES
    own, reference = [], []
    for _ in range(ROUNDS):
        own.append(measure(lambda: decide(*given)))
        reference.append(measure(call_bare))
        assert decide(*given) == outcome
    return own, reference


def list_figures():
    """Return the figures of (d); the least of all rounds, since the machine is shared."""
    own, reference = compare()
    what = f"LCV, {PREDICATES} predicates x {CANDIDATES} candidates, certificate"
    return [
        Figure("d", what, min(own) / 1e6, "ms", floor=TARGET_MS, aim=AIM_MS),
        Figure("d", f"{what} / 800 bare calls", min(own) / min(reference)),
    ]


def main():
    """Print the time of one decision, and its ratio to as many bare calls."""
    own, reference = compare()
    best, bare = min(own), min(reference)
    print(f"{PREDICATES} predicates x {CANDIDATES} candidates, {ROUNDS} rounds, thread time")
    usual, usual_bare = statistics.median(own), statistics.median(reference)
    print(f"  one decision    {best / 1e6:7.3f} ms least, {usual / 1e6:.3f} ms median")
    print(f"  800 bare calls  {bare / 1e6:7.3f} ms least, {usual_bare / 1e6:.3f} ms median")
    print(f"  ratio           {best / bare:7.1f} least, {usual / usual_bare:.1f} median")
    return 0 if best / 1e6 <= TARGET_MS else 1


def measure(run):
    """Return the thread time of one run, in nanoseconds."""
    start = time.thread_time_ns()
    run()
    return time.thread_time_ns() - start


def call_bare():
    """Call a function that does nothing, once per verdict of the decision."""
    for number in range(PREDICATES * CANDIDATES):
        do_nothing(number)


def do_nothing(number):
    return number


if __name__ == "__main__":
    sys.exit(main())
