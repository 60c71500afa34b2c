"""The histories that are kept as golden archives, and the one way to record them.

``python -m tests.golden_histories`` writes what is missing below ``tests/golden`` and never
replaces anything: a golden archive of a released ruleset is never edited.
"""

from importlib import resources
from pathlib import Path

from infra.importers.sgd import CANDIDATES, import_sgd
from schemas.control import RulesetActivated
from schemas.event import (
    CommitmentObserved,
    EvidenceRecorded,
    OutcomeObserved,
    Sensitivity,
    UnitDraft,
)
from tests.archives import fold_archive
from tests.conversation import GENERATOR, OPERATOR, TOOL
from tests.kitchen import candidates, form, meal, started
from tests.lcv import amendment
from tests.random_history import tell_crowd
from tests.restaurant import tell_restaurant
from tests.situations import request

FOLDER = Path(__file__).parent / "golden"
SAMPLE = Path(str(resources.files("infra") / "sample"))
SEEDS = (1, 2, 3)


def tell_crowded(conversation, turn):
    """Tell a turn whose greedy choice leaves open what another choice would cover."""
    wanted = request(wanted_dimensions=("a", "b", "c"), budget_main=90, budget_tail=0)
    conversation.tell(wanted, event_id=turn)
    answer = candidates(meal(evidence_ids=("2#1", "2#2")), turn=turn)
    conversation.tell(answer, by=GENERATOR)


def tell_change():
    """Return a history in which ruleset 2 is activated between two equal turns."""
    given = started()
    given.tell(form(dish="soup"))
    units = tuple(
        UnitDraft(
            "note", None, None, None, dimensions, False, Sensitivity.NONE, (), cost, None, None
        )
        for dimensions, cost in ((("a", "b"), 40), (("a", "c"), 42), (("b",), 38))
    )
    given.tell(EvidenceRecorded(units))
    tell_crowded(given, "before")
    given.tell(RulesetActivated(2), by=OPERATOR)
    tell_crowded(given, "after")
    return given


def tell_amending():
    """Return a history under ruleset 3: made, observed and failed commitments, and amendments."""
    given = started()
    given.tell(RulesetActivated(3), by=OPERATOR)
    given.tell(form(dish="soup"))
    given.tell(request(), event_id="t1")
    given.tell(candidates(meal(), turn="t1"), by=GENERATOR)
    (made,) = given.steps[-1].outputs
    for name in ("k1", "k2"):
        seen = CommitmentObserved(name, "dinner", "meal", meal("stew").slots)
        given.tell(seen, by=TOOL)
    amendments = {
        "t2": amendment(made.commitment_id, 1, dish="pie"),
        "t3": amendment("k1", 1, dish="pie"),
        "t4": amendment(made.commitment_id, 1, dish="bread"),
        "t5": amendment("k9", 1, dish="bread"),
    }
    for turn, proposed in amendments.items():
        given.tell(request(), event_id=turn)
        given.tell(candidates(proposed, turn=turn), by=GENERATOR)
    given.tell(OutcomeObserved("dinner", "k2", False, (), (), ()), by=TOOL)
    given.tell(request(budget_main=20, budget_tail=0), event_id="t6")
    given.tell(candidates(meal(), turn="t6"), by=GENERATOR)
    return given


def list_histories():
    """Return the events of each golden history by its name."""
    histories = {
        f"ruleset-1-crowd-{seed}": tell_crowd(seed, users=3, events=120).events for seed in SEEDS
    }
    sample = import_sgd([SAMPLE], frozenset(CANDIDATES))
    return {
        **histories,
        "ruleset-1-dialogues": list(sample),
        "ruleset-1-restaurant": tell_restaurant().events,
        "ruleset-1-then-2": tell_change().events,
        "ruleset-3-amendments": tell_amending().events,
        "ruleset-1-core-2": tell_crowd(4, users=3, events=120).events,
    }


def main():
    """Record every history that is not there yet."""
    for name, events in list_histories().items():
        if not (FOLDER / name).exists():
            manifest = fold_archive(FOLDER / name, events, segment_bytes=1 << 20)
            print(name, manifest.digest.hex())


if __name__ == "__main__":
    main()
