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
from benchmarks.folding import scratch
from infra.appending import append_events
from infra.backends.choosing import choose_backend
from infra.cli.console import open_log
from infra.extraction.extraction import extract
from infra.extraction.lexicon import build_lexicon
from infra.generation.asking import DecodingSettings
from infra.generation.generator import Generator
from infra.generation.pending import PendingTurns, converse
from infra.generation.playing import read_dialogues
from infra.records import read_output
from schemas.event import Genesis, UtteranceObserved
from streams.clock import SystemClock
from streams.core_reducer import CoreReducer
from streams.ledger import Ledger
from streams.row_store import open_writer

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
    overhead = measure_overhead(kind, source)
    played = play(kind, source, dialogues=DIALOGUES, backend="simulated")
    ratios = [
        answered.packet_tokens / answered.history_tokens
        for answered, _ in played
        if answered.history_tokens
    ]
    what = f"{kind}, {len(overhead)} packets of {DIALOGUES} dialogues"
    return [
        Figure("", f"overhead a turn without the model, p50: {what}", median(overhead), "ms"),
        Figure("", f"overhead a turn without the model, p99: {kind}", find_p99(overhead), "ms"),
        Figure("", f"tokens of packet / of raw history, median: {kind}", median(ratios)),
    ]


def measure_overhead(kind, source):
    """Return milliseconds from request to outcome beside the model, by a ledger that runs.

    Request and answer are each appended and committed durably; prompt, schema and reading of the
    answer are in it, what was said before the turn is not.
    """
    generator = Generator(choose_backend("simulated", record=None))
    overhead = []
    with scratch() as embedded:
        store = open_writer(embedded.path / "rows")
        ledger = Ledger(log=embedded.log, store=store, reducer=CoreReducer(), clock=SystemClock())
        ledger.start()
        catalogue, after = None, None
        for event in read_dialogues(kind, [source], dialogues=DIALOGUES):
            if isinstance(event.payload, Genesis):
                catalogue = event.payload.catalogue
            started = time.perf_counter()
            fold(embedded, ledger, event)
            for output in list(store.outputs("packets", after=after)):
                after = (output.offset, output.place)
                packet = read_output("packets", output.record.value)
                answer = generator.answer(packet, catalogue)
                fold(embedded, ledger, answer)
                spent = sum(one.latency_ms for one in answer.payload.attempts)
                overhead.append(1e3 * (time.perf_counter() - started) - spent)
        store.close()
    return overhead


def fold(embedded, ledger, event):
    """Append an event and fold it."""
    append_events(embedded, [event])
    while ledger.fold_batch():
        pass


def measure_extraction(sample):
    """Return how many texts a second the extractor reads."""
    events = list(read_dialogues("sgd", [sample], dialogues=DIALOGUES))
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
    times = [seconds for _, seconds in played]
    what = f"time to decision with the local model, {len(times)} packets"
    return [
        Figure("", f"{what}, p50", median(times), "s"),
        Figure("", f"{what}, slowest", max(times), "s"),
    ]


def play(kind, source, *, dialogues, backend):
    """Return each packet's answer, and the seconds since the one before."""
    decoding = DecodingSettings(timeout_ms=TIMEOUT_MS)
    chosen = choose_backend(backend, record=None)
    played = []
    try:
        with (
            tempfile.TemporaryDirectory(prefix="generating-") as scratch,
            open_log(Path(scratch) / "log", must_exist=False) as embedded,
        ):
            turns = PendingTurns(embedded, Generator(chosen, decoding))
            events = list(read_dialogues(kind, [source], dialogues=dialogues))
            started = time.perf_counter()
            for answered in converse(embedded, events, turns):
                ended = time.perf_counter()
                played.append((answered, ended - started))
                started = time.perf_counter()
    finally:
        chosen.close()
    return played


def find_p99(numbers):
    """Return the 99th percentile."""
    return quantiles(numbers, n=100)[98]
