"""The ledger on a simulated broker: a slice of the seeds, and proof that they would notice."""

from collections import Counter

import pytest

from tests.simulation.broken_clients import BROKEN, TrustedCopy
from tests.simulation.kafka_seed import CORE_EVERY, run_seed

SEEDS = 60
"""`make simulate` runs a thousand."""
SEARCHED = 60
"""Within so many seeds every broken rule must be noticed; each is, several times over."""


def test_no_seed_loses_doubles_or_changes_an_outcome() -> None:
    """Workers killed, frozen and replaced between any two steps leave what a plain fold says."""
    kills = sum(run_seed(seed).counts["kill"] for seed in range(SEEDS))

    assert kills > SEEDS


def test_seeds_lose_heads_of_logs_and_whole_topics() -> None:
    """Deleted heads leave recorded gaps and no commitment; a topic created anew is refused."""
    seeds = range(2 * SEEDS, 2 * SEEDS + 25)
    told = sum((run_seed(seed).counts for seed in seeds), Counter())

    assert told["gaps"] > 0
    assert told["recreate"] > 0


def test_every_tenth_seed_folds_with_the_core() -> None:
    """The core's own outcomes come out once and exact on the simulated broker too."""
    seeds = range(CORE_EVERY - 1, 5 * CORE_EVERY, CORE_EVERY)

    assert sum(run_seed(seed).counts["outcomes"] for seed in seeds) > 0


def test_one_seed_gives_one_order_of_steps() -> None:
    """A seed that failed can be repeated: it goes through the same, count by count."""
    first, second = run_seed(7), run_seed(7)

    assert (first.counts, first.killed_at) == (second.counts, second.killed_at)


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_noticed(rule: str) -> None:
    """A ledger that splits its commit, skips the fence or trusts too early fails a seed."""
    assert _find_failure(build_clients=BROKEN[rule])


def test_a_copy_trusted_without_proof_is_noticed() -> None:
    """A worker that keeps old local rows brings back what was deleted, and a seed shows it."""
    assert _find_failure(copy=TrustedCopy)


def _find_failure(**kinds: object) -> str:
    for seed in range(SEARCHED):
        try:
            run_seed(seed, **kinds)
        except AssertionError as error:
            return str(error)
    return ""
