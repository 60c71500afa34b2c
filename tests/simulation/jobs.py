"""What one process of a test does: work, fold, read, wait, or be refused.

Each job opens the folder anew, as a command would. tests/simulation/host.py runs them.
"""

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocksdict import Rdict

from streams.clean_close import Proof
from streams.embedded import Embedded
from streams.failures import FoldingElsewhereError, LogDamagedError, StoreDamagedError, StreamsError
from streams.files import DiskFiles
from streams.folder import Folder, holding_fold_lock
from streams.ports import NewRecord
from streams.row_store import RowStore, build_options
from tests.simulation.counting import CountingReducer
from tests.simulation.history import make_event
from tests.simulation.invariants import check_folder

SEGMENT_BYTES = 2_000
"""Small, so that every run passes many segment ends."""


def work(path: str, acks: str, events: int, seed: int) -> None:
    """Append the history in calls of random size, folding at times; note what was acknowledged."""
    draw = random.Random(seed)
    with (
        Embedded(Path(path), CountingReducer(), segment_bytes=SEGMENT_BYTES) as embedded,
        Path(acks).open("a", buffering=1) as noted,
    ):
        number = embedded.log.bounds().end
        while number < events:
            until = min(events, number + draw.randint(1, 30))
            number = embedded.append([make_event(n) for n in range(number, until)]).stop
            noted.write(f"{number}\n")
            if draw.random() < 0.3:
                embedded.fold_pending()
        embedded.fold_pending()


def append(path: str, events: int) -> None:
    """Append the rest of the history and fold nothing."""
    with Embedded(Path(path), CountingReducer(), segment_bytes=SEGMENT_BYTES) as embedded:
        end = embedded.log.bounds().end
        embedded.append([make_event(number) for number in range(end, events)])


def check(path: str, acks: str) -> int:
    """Assert every promise over a folder."""
    lines = Path(acks).read_text().split() if Path(acks).exists() else []
    return check_folder(Path(path), acknowledged=int(lines[-1]) if lines else 0)


def fold(path: str) -> dict[str, int]:
    """Fold what is pending."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        counts = embedded.fold_pending()
        return {"events": counts.events, "rebuilds": counts.rebuilds}


def fold_proved(path: str) -> None:
    """Fold what is pending after proving every row, as run does."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        embedded.fold_pending(proof=Proof.OF_ALL_ROWS)


def count_proofs(path: str, *, proved: bool = False) -> int:
    """Fold what is pending; return how often all rows were read for a proof."""
    proofs = []
    verify = RowStore.verify
    RowStore.verify = lambda *of: (proofs.append(1), verify(*of))[-1]  # type: ignore[method-assign]
    try:
        fold_proved(path) if proved else fold(path)
    finally:
        RowStore.verify = verify  # type: ignore[method-assign]
    return len(proofs)


def heal(path: str) -> None:
    """Fold, read everything as a user does, and let damage on the way be repaired."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        embedded.fold_pending()
        for topic in ("counts", "rejections"):
            list(embedded.outputs(topic))
        try:
            with embedded.reading() as store:
                assert store is not None
                list(store.records())
        except StoreDamagedError:
            embedded.repair()


def repair(path: str) -> int:
    """Ask for the whole store to be checked; return how often it was made anew."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        rebuilds = embedded.repair().rebuilds
        assert rebuilds == 1
        return rebuilds


def tamper(path: str, tampering: str) -> None:
    """Change one entry of the database as somebody with a database tool would."""
    database = Rdict(str(Path(path) / "rows"), build_options())
    prefix = {"r": b"r", "o": b"o", "l": b"l"}[tampering.rsplit(maxsplit=1)[-1][0]]
    key = next(key for key in database.keys(from_key=prefix))
    if tampering.startswith("no "):
        del database[key]
    elif tampering == "new row":
        database[b"rnew"] = b"1"
    else:
        value = database[key]
        database[key] = value[:-1] + bytes([value[-1] ^ 1])
    database.close()


def append_own(path: str, name: str, calls: int) -> list[int]:
    """Append one event per call under an own name, waiting for each outcome; return the offsets."""
    offsets = []
    with Embedded(Path(path), CountingReducer(), segment_bytes=SEGMENT_BYTES) as embedded:
        for call in range(calls):
            offset = embedded.append([NewRecord(name.encode(), b"call %d" % call)]).start
            embedded.wait_for(offset, timeout_ms=60_000)
            places = [(o.offset, o.record.value) for o in embedded.outputs("counts")]
            assert (offset, b"%d call %d" % (call + 1, call)) in places
            offsets.append(offset)
    return offsets


def fold_often(path: str, until: int) -> None:
    """Fold again and again until so many events are folded, leaving it to others when they do."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        while (head := embedded.head()) is None or head.next_offset < until:
            try:
                embedded.fold_pending()
            except FoldingElsewhereError:
                continue


def read_often(path: str, until: int) -> None:
    """Read outputs beside the writers until so many are there; what was read once stays so."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        seen: list[Any] = []
        while len(seen) < until:
            now = list(embedded.outputs("counts"))
            assert seen == now[: len(seen)]
            seen = now


def work_beside(path: str, acks: str, events: int, seed: int) -> None:
    """Append as work() does, and leave the folding to whoever holds the lock."""
    draw = random.Random(seed)
    with (
        Embedded(Path(path), CountingReducer(), segment_bytes=SEGMENT_BYTES) as embedded,
        Path(acks).open("a", buffering=1) as noted,
    ):
        number = embedded.log.bounds().end
        while number < events:
            until = min(events, number + draw.randint(1, 5))
            number = embedded.append([make_event(n) for n in range(number, until)]).stop
            noted.write(f"{number}\n")
            embedded.wait_for(number - 1, timeout_ms=60_000)


def work_until_refused(path: str, acks: str, events: int, seed: int) -> str | None:
    """Work until the system refuses something; return the words, which must be meant for people."""
    try:
        work(path, acks, events, seed)
    except (StoreDamagedError, LogDamagedError):
        raise  # Nothing is damaged: the system only refused.
    except (OSError, StreamsError, MemoryError) as error:
        return str(error)
    return None


def work_until_interrupted(path: str, acks: str, events: int, seed: int) -> str:
    """Work until SIGINT arrives, as it does when somebody presses Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        work(path, acks, events, seed)
    except KeyboardInterrupt:
        return "interrupted"
    return "done"


def hold_lock(path: str, until: str) -> None:
    """Hold the folding lock, doing nothing, until there is a file of that name."""
    with Embedded(Path(path), CountingReducer()):
        while not Path(until).exists():
            try:
                with holding_fold_lock(Folder(Path(path)), DiskFiles()):
                    while not Path(until).exists():
                        time.sleep(0.01)
            except FoldingElsewhereError:  # Whoever tries whether it is held has it just now.
                time.sleep(0.01)


def try_fold(path: str) -> str:
    """Tell whether somebody else folds."""
    try:
        fold(path)
    except FoldingElsewhereError:
        return "elsewhere"
    return "here"


def wait_briefly(path: str, offset: int) -> str:
    """Wait for an outcome that cannot come; return the words."""
    with Embedded(Path(path), CountingReducer()) as embedded:
        try:
            embedded.wait_for(offset, timeout_ms=50)
        except StreamsError as error:
            return str(error)
    return ""


JOBS: dict[str, Callable[..., Any]] = {
    job.__name__: job
    for job in (
        work,
        append,
        check,
        fold,
        fold_proved,
        count_proofs,
        heal,
        repair,
        tamper,
        append_own,
        fold_often,
        read_often,
        work_beside,
        work_until_refused,
        work_until_interrupted,
        hold_lock,
        try_fold,
        wait_briefly,
    )
}
