"""What generation costs around the model: overhead, tokens, extraction, time to decision.

Recorded dialogues are played without their own candidates and each packet is answered where it
stands. The overhead is measured with simulated answers, which take no time; the time to a
decision with the local model. SGD and TAU name folders of those corpora; without SGD the shipped
dialogues are played, without TAU there is no figure of tau.
"""

import os
import tempfile
import time
from importlib import resources
from pathlib import Path
from statistics import median, quantiles

from benchmarks.figures import Figure
from benchmarks.generation import read_dialogues
from infra.backends.choosing import choose_backend
from infra.cli.console import open_log
from infra.extraction.extraction import extract
from infra.extraction.lexicon import build_lexicon
from infra.generation.asking import DecodingSettings
from infra.generation.generator import Generator
from infra.generation.pending import PendingTurns, converse
from schemas.event import Genesis, UtteranceObserved

DIALOGUES = 30
LOCAL_DIALOGUES = 2
TIMEOUT_MS = 180_000


def list_figures():
    """Return every figure of this file."""
    with resources.as_file(resources.files("infra") / "sample") as sample:
        sgd = Path(os.environ.get("SGD") or sample)
        figures = describe("sgd", sgd)
        if tau := os.environ.get("TAU"):
            figures += describe("tau", Path(tau))
        return [*figures, measure_extraction(sample), *measure_decisions(sample)]


def describe(kind, source):
    """Return overhead and payload of one corpus with simulated answers."""
    played = play(kind, source, dialogues=DIALOGUES, backend="simulated")
    overhead = [seconds * 1e3 - spent for _, seconds, spent in played]
    ratios = [
        answered.packet_tokens / answered.history_tokens
        for answered, *_ in played
        if answered.history_tokens
    ]
    what = f"{kind}, {len(played)} packets of {DIALOGUES} dialogues"
    return [
        Figure("", f"overhead a turn without the model, p50: {what}", median(overhead), "ms"),
        Figure("", f"overhead a turn without the model, p99: {kind}", find_p99(overhead), "ms"),
        Figure("", f"tokens of packet / of raw history, median: {kind}", median(ratios)),
    ]


def measure_extraction(sample):
    """Return how many texts a second the extractor reads."""
    events = list(read_dialogues("sgd", sample, dialogues=DIALOGUES))
    (catalogue,) = (one.payload.catalogue for one in events if isinstance(one.payload, Genesis))
    lexicon = build_lexicon(catalogue)
    texts = [one for one in events if isinstance(one.payload, UtteranceObserved)]
    started = time.perf_counter()
    for text in texts:
        extract(text, lexicon)
    seconds = time.perf_counter() - started
    what = f"extraction, {len(texts)} texts, lexicon of {len(lexicon.slots)} slots"
    return Figure("", what, len(texts) / seconds, "texts/s", rises=True)


def measure_decisions(sample):
    """Return the time from a turn's request to its outcome with the local model."""
    played = play("sgd", sample, dialogues=LOCAL_DIALOGUES, backend="local")
    times = [seconds for _, seconds, _ in played]
    what = f"time to decision with the local model, {len(times)} packets"
    return [
        Figure("", f"{what}, p50", median(times), "s"),
        Figure("", f"{what}, slowest", max(times), "s"),
    ]


def play(kind, source, *, dialogues, backend):
    """Return (answer, seconds since the one before, milliseconds in the model) of each packet."""
    decoding = DecodingSettings(timeout_ms=TIMEOUT_MS)
    chosen = choose_backend(backend, record=None)
    played = []
    try:
        with (
            tempfile.TemporaryDirectory(prefix="generating-") as scratch,
            open_log(Path(scratch) / "log", must_exist=False) as embedded,
        ):
            turns = PendingTurns(embedded, Generator(chosen, decoding))
            events = list(read_dialogues(kind, source, dialogues=dialogues))
            started = time.perf_counter()
            for answered in converse(embedded, events, turns):
                ended = time.perf_counter()
                spent = sum(one.latency_ms for one in answered.event.payload.attempts)
                played.append((answered, ended - started, spent))
                started = time.perf_counter()
    finally:
        chosen.close()
    return played


def find_p99(numbers):
    """Return the 99th percentile."""
    return quantiles(numbers, n=100)[98]
