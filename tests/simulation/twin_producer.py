"""A transactional producer of the simulated broker, with the failures of librdkafka's."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from tests.simulation.scheduler import Scheduler
from tests.simulation.twin_broker import Answer, Entry, TwinBroker

FAULTS = 0.02
"""How often a request is lost, or its answer."""
ASK_AGAIN_MS = 20


class TwinProducer:
    """A transactional producer; what it sent before its commit may reach the broker or not."""

    def __init__(self, broker: TwinBroker, scheduler: Scheduler, name: str) -> None:
        self._broker, self._scheduler, self.name = broker, scheduler, name
        self._epoch = -1
        self._queue: list[tuple[tuple[str, int], Entry, Callable[..., None] | None]] = []
        self._told: list[tuple[Callable[..., None], int]] = []
        self._failure: KafkaException | None = None
        self._flush_at = 0
        self._joined: set[tuple[str, int]] = set()

    def init_transactions(self, timeout_s: float) -> None:
        """Fence the predecessor."""
        gives_up_at = self._scheduler.clock.at_ns + int(timeout_s * 1e9)
        self._fail_sometimes("init", applied=False)
        while True:
            hasty = self._chance.random() < 0.3
            answer = self._broker.init_producer(self.name, hasty=hasty)
            if not isinstance(answer, Answer):
                self._epoch = answer[1]
                self._scheduler.step("init answered")
                return
            self._scheduler.step("init again", wait_ms=ASK_AGAIN_MS)
            if self._scheduler.clock.at_ns > gives_up_at:
                raise _time_out("init")

    def begin_transaction(self) -> None:
        """Begin; nothing is sent."""
        self._scheduler.step("begin")
        self._failure = None
        self._joined.clear()
        self._flush_at = self._chance.choice((1, 3, 8, 1_000_000))

    def produce(
        self, topic: str, value: bytes | None, key: bytes, partition: int,
        on_delivery: Callable[..., None] | None = None, headers: Any = (),
    ) -> None:  # fmt: skip
        """Queue a record; now and then send what is queued."""
        entry = Entry(0, key, value, tuple(headers), 0)
        self._queue.append(((topic, partition), entry, on_delivery))
        if len(self._queue) >= self._flush_at:
            self._flush()

    def commit_transaction(self, timeout_s: float) -> None:
        """Send what is queued and commit."""
        self._scheduler.step("commit")
        self._flush()
        if self._failure is not None:
            raise self._failure
        if self._chance.random() < FAULTS and not self._scheduler.calm:
            raise KafkaException(KafkaError(KafkaError._MSG_TIMED_OUT, "lost", False, False, True))
        self._end(commit=True)

    def abort_transaction(self, timeout_s: float) -> None:
        """Abort; what is queued is dropped."""
        self._queue.clear()
        self._scheduler.step("abort")
        self._end(commit=False)

    def purge(self) -> None:
        """Drop what is queued."""
        self._scheduler.step("purge")
        self._queue.clear()

    def poll(self, timeout_s: float) -> None:
        """Tell of deliveries."""
        told, self._told = self._told, []
        for tell, offset in told:
            tell(None, SimpleNamespace(offset=lambda at=offset: at))

    def _end(self, *, commit: bool) -> None:
        kind = "commit" if commit else "abort"
        self._fail_sometimes(kind, applied=False, commit=commit)
        while True:
            answer = self._broker.end(self.name, self._epoch, commit=commit)
            if answer is Answer.FENCED:
                raise _fenced(kind)
            if answer is Answer.DONE:
                break
            self._scheduler.step(f"{kind} again", wait_ms=ASK_AGAIN_MS)
        self._fail_sometimes(kind, applied=True)
        self._scheduler.step(f"{kind} answered")
        if commit:
            self.poll(0)

    def _flush(self) -> None:
        while self._queue and self._failure is None:
            place, entry, tell = self._queue.pop(0)
            if place not in self._joined and not self._join(place):
                return
            self._scheduler.step(f"produce to {place[0]}")
            if self._broker.produce(self.name, self._epoch, place, entry) is Answer.FENCED:
                self._failure = _fenced("produce")
            elif tell is not None:
                self._told.append((tell, entry.offset))

    def _join(self, place: tuple[str, int]) -> bool:
        while True:
            self._scheduler.step("join")
            answer = self._broker.join(self.name, self._epoch, place)
            if answer is Answer.FENCED:
                self._failure = _fenced("join")
                return False
            if answer is Answer.DONE:
                self._joined.add(place)
                return True
            self._scheduler.step("join again", wait_ms=ASK_AGAIN_MS)

    def _fail_sometimes(self, what: str, *, applied: bool, commit: bool | None = None) -> None:
        """Lose a request or its answer; a lost request may still be under way."""
        self._scheduler.step(what)
        if self._scheduler.calm or self._chance.random() >= FAULTS:
            return
        if not applied and commit is not None and self._chance.random() < 0.5:
            self._broker.end_late(self.name, self._epoch, commit=commit, chance=self._chance)
        raise _time_out(what)

    @property
    def _chance(self) -> Any:
        return self._scheduler.chance


def _time_out(what: str) -> KafkaException:
    return KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{what}: no answer", False, True))


def _fenced(what: str) -> KafkaException:
    return KafkaException(KafkaError(KafkaError._FENCED, f"{what}: a newer epoch", True))
