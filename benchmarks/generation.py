"""Generation measured on recorded dialogues: what a model's answers come to, and what they cost.

``python -m benchmarks.generation FOLDER --dialogues 30 --backend local`` plays dialogues without
their own candidates, lets the backend answer each packet where it stands, and prints one JSON
document. Figures of a simulated backend say nothing about any model.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median, quantiles

from infra.audit.replay import replay
from infra.backends.choosing import choose_backend
from infra.cli.console import open_log
from infra.generation.asking import DecodingSettings
from infra.generation.generator import Generator
from infra.generation.pending import PendingTurns, converse, list_outcomes
from infra.importers.registry import IMPORTERS
from schemas.event import CandidatesProposed, Event


def read_dialogues(kind: str, source: Path, *, dialogues: int) -> Iterator[Event]:
    """Yield the events of the first dialogues of a corpus, without the candidates it proposes."""
    users: dict[str, None] = {}
    for event in IMPORTERS[kind]([source], frozenset({"gold"}), []):
        if event.user and event.user not in users:
            if len(users) == dialogues:
                return
            users[event.user] = None
        if not isinstance(event.payload, CandidatesProposed):
            yield event


def measure(options: argparse.Namespace, folder: Path) -> dict:
    decoding = DecodingSettings(tokens_max=options.tokens_max, timeout_ms=options.timeout_s * 1_000)
    backend = choose_backend(options.backend, record=options.record)
    try:
        with open_log(folder, must_exist=False) as embedded:
            turns = PendingTurns(embedded, Generator(backend, decoding))
            events = read_dialogues(options.corpus, options.source, dialogues=options.dialogues)
            started = time.perf_counter()
            answers = list(converse(embedded, events, turns))
            seconds = time.perf_counter() - started
            outcomes = Counter()
            turn_ids: Counter = Counter()
            for topic, record in list_outcomes(embedded):
                turn_ids[record.tenant, record.user, record.turn_id] += 1
                what = getattr(record, "act", None) or getattr(record, "kind", None)
                reason = getattr(record, "reason", "")
                outcomes[f"{topic}:{what or 'commitment'}:{reason}".rstrip(":")] += 1
            compared = asdict(replay(embedded, lambda _done, _left: None))
    finally:
        backend.close()
    payloads = [answered.event.payload for answered in answers]
    attempts = [attempt for payload in payloads for attempt in payload.attempts]
    latencies = [attempt.latency_ms for attempt in attempts]
    beside_ms = 1_000 * seconds - sum(latencies)
    return {
        "backend": options.backend,
        "model": payloads[-1].decoding.model if payloads else "",
        "dialogues": options.dialogues,
        "turns": len(turn_ids),
        "turns_with_one_outcome": sum(count == 1 for count in turn_ids.values()),
        "packets": len(answers),
        "available": sum(not answered.failed for answered in answers),
        "failures": Counter(
            p.kind.value for a, p in zip(answers, payloads, strict=True) if a.failed
        ),
        "attempts": Counter(attempt.outcome for attempt in attempts),
        "outcomes": dict(sorted(outcomes.items())),
        "latency_ms": spread(latencies),
        "packet_tokens": spread([a.packet_tokens for a in answers]),
        "history_tokens": spread([a.history_tokens for a in answers]),
        "saving_percent": spread([a.saving_percent for a in answers]),
        "seconds": round(seconds, 1),
        "ms_per_packet_beside_the_model": round(beside_ms / max(1, len(answers)), 1),
        "replay": {k: v for k, v in compared.items() if k not in {"first", "lanes"}},
    }


def spread(numbers: list[int]) -> dict[str, float]:
    """Return count, median and 99th percentile."""
    if len(numbers) < 2:
        return {"count": len(numbers), "median": median(numbers) if numbers else 0}
    p99 = quantiles(numbers, n=100)[98]
    return {"count": len(numbers), "median": round(median(numbers), 1), "p99": round(p99, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--corpus", default="sgd", choices=sorted(IMPORTERS))
    parser.add_argument("--dialogues", type=int, default=30)
    parser.add_argument("--backend", default="simulated")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--tokens-max", type=int, default=2_200)
    parser.add_argument("--timeout-s", type=int, default=180)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="generation-") as scratch:
        print(json.dumps(measure(options, Path(scratch) / "log"), indent=1))


if __name__ == "__main__":
    main()
