"""One evaluation over the fixtures: histories and labels written, variants run, rows scored.

What holds text (histories, labels, logs) stays in the folder ``private``; beside it stand
tables and a report without any. The order of steps is here, every step elsewhere.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from infra.evaluation.answering import TOKENS_MAX
from infra.evaluation.generation import Place, draw_fixture, list_extended, list_places
from infra.evaluation.generators import build_generator, read_key
from infra.evaluation.histories import read_histories, write_histories
from infra.evaluation.labelling import read_labels, write_labels
from infra.evaluation.observing import Run, measure_costs, observe_variant
from infra.evaluation.reference import ORACLE, build_oracle_run
from infra.evaluation.running import run_variant
from infra.evaluation.scoring import Row, score
from infra.evaluation.variants import (
    ABLATIONS,
    GATED,
    NINE,
    Variant,
    dense,
    long_context,
    raw,
    tool_memory,
)
from infra.evaluation.variants.cbea_lcv import VARIANT as FULL

BUDGETS: Final = (256, 512, 1_024, 2_200)
"""Output budgets in tokens, tried on the medium histories."""
BUDGET_TIER: Final = "medium"
BUDGET_FIXTURES: Final = 60

PAYLOAD: Final = (long_context.VARIANT, raw.VARIANT, dense.VARIANT, FULL)
"""The interfaces whose payload is compared; long context is what the others are held against."""

ALL_TIERS: Final = "all fixtures"

LIBRARIES: Final = {dense.VARIANT.name: "static_model", tool_memory.VARIANT.name: "agentrecall"}
"""What a variant needs beside the package itself: the extra ``evaluation``."""

PRIVATE: Final = "private"
PLAN: Final = "plan.json"

Progress = Callable[[str, int, int], None]


class EvaluationError(Exception):
    """An evaluation cannot start or go on; the message names the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is run: the seed of the fixtures, the generator's name, how many fixtures, how wide.

    ``limit`` None means all 360; a smaller number takes them evenly. ``variants`` () means all.
    ``tokens_max`` bounds each answer, but not those that are held against budgets of their own.
    """

    seed: int
    backend: str
    model: str
    limit: int | None
    variants: tuple[str, ...]
    tokens_max: int = TOKENS_MAX

    @property
    def run_id(self) -> str:
        """The name of the run: what it is a function of."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One log to bring to its end, and the variants to read from it."""

    name: str
    histories: Path
    logs: Path
    variants: tuple[Variant, ...]
    backend: str
    model: str
    tokens_max: int
    record: Path | None = None


def prepare(plan: Plan, out: Path, *, resume: bool) -> None:
    """Write histories and labels, or check that the folder is that of the same plan.

    Raises:
        EvaluationError: the folder has another plan, or one that was not to be resumed.

    """
    _require_libraries(choose_variants(plan))
    private = out / PRIVATE
    mark = private / PLAN
    text = json.dumps(asdict(plan), sort_keys=True) + "\n"
    if mark.exists():
        if not resume:
            raise EvaluationError(f"{out} holds a run already: give --resume or another --out")
        if mark.read_text("utf-8") != text:
            raise EvaluationError(f"{out} holds a run of another plan: give another --out")
        return
    private.mkdir(parents=True, exist_ok=True)
    kept = _thin(list_places(), plan.limit)
    budgeted = tuple(place for place in kept if place.tier == BUDGET_TIER)
    for name, places in (
        ("fixtures", kept),
        ("budgets", _thin(budgeted, BUDGET_FIXTURES)),
        ("extended", list_extended() if plan.limit is None else ()),
    ):
        drawn = [draw_fixture(plan.seed, place) for place in places]
        write_histories(private / f"{name}.jsonl", (fixture for fixture, _ in drawn))
        write_labels(private / f"{name}.labels.jsonl", (label for _, label in drawn))
    mark.write_text(text, "utf-8")


def run_all(
    plan: Plan, out: Path, *, workers: int, progress: Progress, record: Path | None = None
) -> dict[str, tuple[Run, ...]]:
    """Bring every log of the plan to its end and return the runs by variant; no label is read.

    With ``record`` a model's replies are also written there.
    """
    private = out / PRIVATE
    jobs = [
        _Job(
            name=log,
            histories=private / "fixtures.jsonl",
            logs=private / "logs",
            variants=group,
            backend=plan.backend,
            model=plan.model,
            tokens_max=plan.tokens_max,
            record=record,
        )
        for log, group in _group_by_log(choose_variants(plan))
    ]
    runs: dict[str, tuple[Run, ...]] = {}
    for found in _work(jobs, workers, progress):
        runs.update(found)
    return runs


def run_budgets(
    plan: Plan, out: Path, *, workers: int, progress: Progress
) -> dict[int, tuple[Run, ...]]:
    """Run CBEA+LCV under each output budget and return the runs."""
    private = out / PRIVATE
    jobs = [
        _Job(
            name=f"output budget {tokens}",
            histories=private / "budgets.jsonl",
            logs=private / "logs" / f"budget_{tokens}",
            variants=(FULL,),
            backend=plan.backend,
            model=plan.model,
            tokens_max=tokens,
        )
        for tokens in BUDGETS
    ]
    found = list(_work(jobs, workers, progress))
    return {job.tokens_max: runs[FULL.name] for job, runs in zip(jobs, found, strict=True)}


def weigh_payload(
    plan: Plan, out: Path, grouped: dict[str, list[Row]]
) -> dict[str, dict[str, list[int]]]:
    """Return the cost units shown by tier and variant, the long-history variants included.

    For those only packets are needed: turns are opened, nothing is generated.
    """
    found: dict[str, dict[str, list[int]]] = {}
    names = [variant.name for variant in PAYLOAD if variant.name in grouped]
    # The same fixtures for all: those whose turn the full pipeline showed a packet for.
    shown = {row.fixture_id for row in grouped.get(FULL.name, []) if row.cost}
    for name in names if len(names) == len(PAYLOAD) else ():
        for row in grouped[name]:
            if row.fixture_id in shown:
                for tier in (row.tier, ALL_TIERS):
                    found.setdefault(tier, {}).setdefault(name, []).append(row.cost)
    fixtures = read_histories(out / PRIVATE / "extended.jsonl")
    if not fixtures or plan.variants:
        return found
    logs = out / PRIVATE / "logs" / "extended"
    logs.mkdir(parents=True, exist_ok=True)
    run_variant(FULL, fixtures, None, logs, tokens_max=TOKENS_MAX)
    for name, fixture_id, cost in measure_costs(PAYLOAD, fixtures, logs):
        tier = fixture_id.rpartition("-")[2]
        found.setdefault(tier, {}).setdefault(name, []).append(cost)
    return found


def score_all(out: Path, runs: dict[str, tuple[Run, ...]]) -> dict[str, list[Row]]:
    """Return the scored rows by variant, the oracle's first: the one step that opens labels."""
    labels = read_labels(out / PRIVATE / "fixtures.labels.jsonl")
    grouped = {ORACLE: [score(build_oracle_run(label), label) for label in labels.values()]}
    for variant, found in runs.items():
        grouped[variant] = [score(run, labels[run.fixture_id]) for run in found]
    return grouped


def score_budgets(out: Path, runs: dict[int, tuple[Run, ...]]) -> dict[str, list[Row]]:
    """Return the scored rows of the output budgets."""
    labels = read_labels(out / PRIVATE / "budgets.labels.jsonl")
    return {
        str(tokens): [score(run, labels[run.fixture_id]) for run in found]
        for tokens, found in runs.items()
    }


def choose_variants(plan: Plan) -> tuple[Variant, ...]:
    """Return the variants that run, in order; the oracle does not.

    Raises:
        EvaluationError: a name is none of theirs.

    """
    known = {variant.name: variant for variant in (*NINE, *GATED, *ABLATIONS)}
    for name in plan.variants:
        if name not in known:
            raise EvaluationError(f"--variant {name} is none of {', '.join(known)}")
    chosen = [known[name] for name in plan.variants] or list(known.values())
    return tuple(variant for variant in chosen if variant.show is not None)


def _require_libraries(variants: Sequence[Variant]) -> None:
    for variant in variants:
        library = LIBRARIES.get(variant.name)
        if library is not None and find_spec(library) is None:
            raise EvaluationError(
                f"variant {variant.name} needs {library}: "
                "pip install 'bounded-commitments[evaluation]', or leave it out with --variant"
            )


def _thin(places: tuple[Place, ...], limit: int | None) -> tuple[Place, ...]:
    """Return so many, taken evenly, so that every bucket and length stays there."""
    if limit is None or limit >= len(places):
        return places
    return tuple(places[number * len(places) // limit] for number in range(limit))


def _group_by_log(variants: Sequence[Variant]) -> list[tuple[str, tuple[Variant, ...]]]:
    groups: dict[str, list[Variant]] = {}
    for variant in variants:
        groups.setdefault(variant.log, []).append(variant)
    return [(log, tuple(group)) for log, group in groups.items()]


def _work(
    jobs: Sequence[_Job], workers: int, progress: Progress
) -> Iterator[dict[str, tuple[Run, ...]]]:
    if workers == 1:
        for done, job in enumerate(jobs):
            yield _run_job(
                job,
                lambda answers, done=done, name=job.name: progress(  # type: ignore[misc]
                    f"{name}: {answers} answers", done, len(jobs)
                ),
            )
            progress(job.name, done + 1, len(jobs))
        return
    # Spawned, not forked: the row store of a parent must not be inherited.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for done, (job, found) in enumerate(zip(jobs, pool.map(_run_job, jobs), strict=True), 1):
            yield found
            progress(job.name, done, len(jobs))


def _run_job(
    job: _Job, progress: Callable[[int], None] | None = None
) -> dict[str, tuple[Run, ...]]:
    fixtures = read_histories(job.histories)
    job.logs.mkdir(parents=True, exist_ok=True)
    generator = build_generator(job.backend, model=job.model, api_key=read_key(), record=job.record)
    try:
        run_variant(
            job.variants[0],
            fixtures,
            generator,
            job.logs,
            tokens_max=job.tokens_max,
            progress=progress,
        )
    finally:
        generator.close()
    return {variant.name: observe_variant(variant, fixtures, job.logs) for variant in job.variants}
