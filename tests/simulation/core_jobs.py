"""What a process of a crash test does with the real core: append a history, fold, verify."""

import pickle
import random
from pathlib import Path
from typing import Any

from infra.appending import seal_event
from infra.audit.replay import replay
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.history_check import check_history
from streams.ports import NewRecord
from tests.random_history import tell_history

SEGMENT_BYTES = 20_000
EVENTS = 160
TOPICS = (
    "commitments",
    "repairs",
    "failures",
    "packets",
    "surfaces",
    "rejections",
    "contracts",
    "states",
)


def draw_core(history: str, seed: int) -> None:
    """Write a history of one user, with some records that are no events, to a file."""
    draw = random.Random(seed)
    records = [seal_event(event) for event in tell_history(seed, EVENTS).events]
    for bad in (
        NewRecord(None, b""),
        NewRecord(b"key", None),
        NewRecord(b"key", b"\xc3\x01nonsense"),
        NewRecord(records[1].key, (records[1].value or b"")[:-3]),
        NewRecord(records[1].key, bytes(300_000)),
    ):
        records.insert(draw.randrange(1, len(records)), bad)
    Path(history).write_bytes(pickle.dumps(records))


def read_history(history: str) -> list[NewRecord]:
    """Return the history that was drawn."""
    return pickle.loads(Path(history).read_bytes())


def work_core(path: str, history: str, seed: int) -> None:
    """Append the history in calls of random size and fold now and then, to the end."""
    draw = random.Random(seed)
    records = read_history(history)
    with Embedded(Path(path), CoreReducer(), segment_bytes=SEGMENT_BYTES) as embedded:
        number = embedded.log.bounds().end
        while number < len(records):
            until = min(len(records), number + draw.randint(1, 20))
            number = embedded.append(records[number:until]).stop
            if draw.random() < 0.4:
                embedded.fold_pending()
        embedded.fold_pending()


def check_core(path: str, history: str) -> dict[str, Any]:
    """Fold what is pending, prove the folder by replay, and return what came out, as text."""
    with Embedded(Path(path), CoreReducer()) as embedded:
        embedded.fold_pending()
        read = embedded.log.read(0, limit=10_000)
        held = read_history(history)[: len(read)]
        assert list(held) == [NewRecord(r.key, r.value, r.headers) for r in read]
        report = replay(embedded, lambda _, __: None)
        assert report.clean, report
        with embedded.reading() as store:
            assert store is not None
            store.verify(store.head())
            check_history(store)
        outputs = {topic: describe_outputs(embedded, topic) for topic in TOPICS}
        return {"events": len(read), "outputs": outputs}


def describe_outputs(embedded: Embedded, topic: str) -> list[str]:
    """Return place, key and value of every output; a table's rows have no place of their own."""
    return [
        f"{'' if topic in {'contracts', 'states'} else (o.offset, o.place)}"
        f" {o.record.key.hex()} {(o.record.value or b'').hex()}"
        for o in embedded.outputs(topic)
    ]


CORE_JOBS = {job.__name__: job for job in (draw_core, work_core, check_core)}
