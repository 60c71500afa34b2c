"""The histories that are kept as golden archives, and the one way to record them.

``python -m tests.golden_histories`` writes what is missing below ``tests/golden`` and never
replaces anything: a golden archive of a released ruleset is never edited.
"""

from importlib import resources
from pathlib import Path

from infra.importers.sgd import CANDIDATES, import_sgd
from schemas.control import RulesetActivated
from schemas.event import EvidenceRecorded, Sensitivity, UnitDraft
from tests.archives import fold_archive
from tests.conversation import GENERATOR, OPERATOR
from tests.kitchen import candidates, form, meal, started
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
