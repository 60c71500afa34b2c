"""One seed of the ledger on a simulated broker: workers run, die, freeze and wake; all stays exact.

The workers are those of streams/; only broker, membership, clock, threads and local files are
twins. What must come out is folded apart, in one go, from what is on the log.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.topics import TOPICS
from streams import crash_points
from streams.connection import Connection
from streams.lane import Phase
from streams.starting import WorkerSettings
from streams.worker import Worker
from tests.simulation.scheduler import AtOnce, Exited, Process, Scheduler
from tests.simulation.subjects import CoreHistory, Subject, Tallies
from tests.simulation.twin_broker import TwinBroker
from tests.simulation.twin_clients import TwinClients
from tests.simulation.twin_copies import TwinCopy, TwinDisk
from tests.simulation.twin_group import TwinGroup, TwinOwnership
from tests.simulation.twin_invariants import check_broker

CORE_EVERY = 10
TURNS_MAX = 10_000
"""A calm simulation that has not folded everything by then never will."""
WEEKEND_NS = 8 * 24 * 3_600_000_000_000
REFUSAL = "was deleted and created again"
"""How a worker refuses events that are not those that were folded."""
COMPACTED = tuple(topic.name for topic in TOPICS if topic.cleanup.value == "compact")

Break = Callable[[TwinBroker, Scheduler], Any]
"""Makes the clients of one worker; tests give clients that break a rule of the ledger."""


@dataclass
class Told:
    """What one seed went through, by count, and the points at which workers were killed."""

    counts: Counter[str] = field(default_factory=Counter)
    killed_at: Counter[str] = field(default_factory=Counter)


class Simulation:
    """The world of one seed."""

    def __init__(
        self, seed: int, home: Path, build_clients: Break, copy: type[TwinCopy], subject: Subject
    ) -> None:
        random.seed(seed)  # Back-off draws its jitter there.
        self.told = Told()
        self.scheduler = Scheduler(seed)
        self.chance = self.scheduler.chance
        self.partitions = self.chance.choice((1, 2, 2, 3))
        self.broker = TwinBroker(
            [topic.name for topic in TOPICS], self.partitions, self.scheduler.clock.now_ms
        )
        self.group = TwinGroup(self.partitions, self.chance)
        self.disk = TwinDisk(home, self.scheduler, copy)
        self.workers: dict[str, tuple[Process, Worker, str]] = {}
        self.notes: list[str] = []
        self._build_clients = build_clients
        self._subject = subject
        subject.begin(self.broker, self.partitions)
        self._started = self._appended = 0
        self._free = ["folder-0"]

    def run(self, actions: int) -> None:
        """Let the world act, then calm down until everything is folded, then check."""
        crash_points.watch(self.scheduler.step)
        try:
            for _ in range(self.chance.choice((1, 2, 2, 3))):
                self._start_worker()
            for _ in range(actions):
                self._act()
                for _ in range(self.chance.choice((1, 5, 20, 60))):
                    self._turn()
                if self.broker.recreated:
                    break
            self._settle()
        finally:
            crash_points.watch(None)
            for process, _, _ in self.workers.values():
                self.scheduler.kill(process)
        self.told.counts["gaps"] = check_broker(self.broker, self.partitions, self._subject)
        self.told.counts.update(self.broker.counts)
        self.told.counts["outcomes"] = sum(
            len(list(log.committed()))
            for (topic, _), log in self.broker.logs.items()
            if topic in {"commitments", "repairs", "failures"}
        )

    def _act(self) -> None:
        name = self.chance.choices(tuple(_ACTIONS), tuple(_ACTIONS.values()))[0]
        self.told.counts[name] += 1
        getattr(self, f"_{name}")()

    def _append(self) -> None:
        for _ in range(self.chance.choice((1, 3, 10, 40))):
            partition, key, value = self._subject.draw(self.chance, self._appended)
            self.broker.append(("events", partition), key, value)
            self._appended += 1

    def _kill(self) -> None:
        if self.workers:
            name = self.chance.choice(sorted(self.workers))
            process, _, folder = self.workers.pop(name)
            self.told.killed_at[process.last] += 1
            self.scheduler.kill(process)
            self._free.append(folder)
            self._start_worker()

    def _join(self) -> None:
        if len(self.workers) < 4:
            self._start_worker()

    def _leave(self) -> None:
        if len(self.workers) > 1:
            _, worker, _ = self.workers[self.chance.choice(sorted(self.workers))]
            worker.stop()

    def _freeze(self) -> None:
        if self.workers:
            process, _, _ = self.workers[self.chance.choice(sorted(self.workers))]
            frozen_ns = int(self.chance.uniform(0.1, 20) * 1e9)
            process.frozen_until_ns = self.scheduler.clock.at_ns + frozen_ns

    def _rebalance(self) -> None:
        self.group.assign()

    def _compact(self) -> None:
        place = (self.chance.choice(COMPACTED), self.chance.randrange(self.partitions))
        self.broker.compact(place)

    def _behead(self) -> None:
        """Delete the head of one partition's events, folded or not."""
        log = self.broker.logs["events", self.chance.randrange(self.partitions)]
        log.cut_head(self.chance.randint(log.start, log.end))

    def _recreate(self) -> None:
        """Create events anew, once all partitions have been folded from; few follow."""
        heads = [self.broker.logs["rows", p].committed() for p in range(self.partitions)]
        if all(any(entry.key == b"h" for entry in head) for head in heads):
            self.broker.recreate("events")

    def _weekend(self) -> None:
        """Stop everything for so long that tombstones are removed while folders stay."""
        for name in sorted(self.workers):
            process, _, folder = self.workers.pop(name)
            self.scheduler.kill(process)
            self._free.append(folder)
        self.scheduler.clock.at_ns += WEEKEND_NS
        self._tend()
        while self.broker.write_marker(self.chance):
            pass
        for partition in range(self.partitions):
            self.broker.compact(("rows", partition))
        self._start_worker()

    def _turn(self) -> None:
        """Let one process go on, or the broker; then bury who ended."""
        if self.chance.random() < 0.3:
            self.broker.write_marker(self.chance)
        if self.chance.random() < 0.05:
            self.broker.deliver_late()
        if not self.scheduler.turn():
            self.scheduler.clock.at_ns += 50_000_000
        self._tend()

    def _tend(self) -> None:
        self.broker.expire()
        self.group.expire(self.scheduler.clock.at_ns)
        for name in sorted(self.workers):
            process, _, folder = self.workers[name]
            if process.failure is not None:
                raise AssertionError(f"worker {name} raised") from process.failure
            if process.ended:
                del self.workers[name]
                self._free.append(folder)
        if not self.workers:
            self._start_worker()

    def _settle(self) -> None:
        """End all trouble, and wait until every partition is folded to its end."""
        self.scheduler.calm = True
        for process, _, _ in self.workers.values():
            process.frozen_until_ns = 0
            if self.broker.recreated:  # What is asked for is what a new start says.
                self.scheduler.kill(process)
        self._tend()
        for turn in range(TURNS_MAX):
            if self._folded():
                self.told.counts["turns to settle"] = turn
                return
            self.broker.deliver_late()
            self._turn()
        raise AssertionError("not everything was folded: " + " | ".join(self.notes[-6:]))

    def _folded(self) -> bool:
        if any(t.pending or t.partitions for t in self.broker.transactions.values()):
            return False
        lanes = [lane for _, worker, _ in self.workers.values() for lane in worker.lanes()]
        if self.broker.recreated:
            stopped = {lane.partition for lane in lanes if lane.phase is Phase.STOPPED}
            reasons = [lane.reason for lane in lanes if lane.phase is Phase.STOPPED]
            assert all(REFUSAL in reason for reason in reasons), reasons
            return len(stopped) == self.partitions
        done = {lane.partition for lane in lanes if lane.next_offset == self._end(lane.partition)}
        return len(done) == self.partitions

    def _end(self, partition: int) -> int:
        return self.broker.logs["events", partition].end

    def _start_worker(self) -> None:
        self._started += 1
        name = f"worker-{self._started}"
        folder = f"folder-{self._started}"
        if self._free and self.chance.random() < 0.6:
            folder = self._free.pop(self.chance.randrange(len(self._free)))
        clients = self._build_clients(self.broker, self.scheduler)
        settings = WorkerSettings(
            connection=Connection(bootstrap_servers="twin", clients=clients),
            prefix="",
            folder=self.disk.home / folder,
            group="ledger",
            open_copy=self.disk.open_copy,
        )

        def body(process: Process) -> None:
            worker.run()
            self.group.leave(process.name)

        process = self.scheduler.start(name, body)
        worker = Worker(
            settings,
            ownership=TwinOwnership(self.group, self.scheduler, process),
            build_reducer=self._subject.build_reducer,
            exit_process=self._exit,
            clock=self.scheduler.clock,
            note=lambda event, **values: self._note(name, event, values),
            open_pool=AtOnce,
        )
        self.workers[name] = (process, worker, folder)

    def _note(self, name: str, event: str, values: dict[str, Any]) -> None:
        self.told.counts[event] += 1
        line = f"{name} {event} {values}"
        self.notes.append(line)
        self.scheduler.trace.append(line)

    def _exit(self, code: int, reason: str) -> None:
        self.notes.append(f"exit {code}: {reason}")
        self.told.counts["exits"] += 1
        raise Exited


_ACTIONS = {
    "append": 40,
    "kill": 10,
    "freeze": 8,
    "rebalance": 6,
    "join": 3,
    "leave": 3,
    "compact": 12,
    "weekend": 1,
    "behead": 2,
    "recreate": 0.5,
}


def run_seed(
    seed: int,
    *,
    actions: int = 40,
    build_clients: Break = TwinClients,
    copy: type[TwinCopy] = TwinCopy,
) -> Told:
    """Run one seed and return what it went through; every tenth folds with the core itself.

    Raises:
        AssertionError: an outcome is lost, double or different, or the ledger never ends; its
            notes hold the last steps.
    """
    with tempfile.TemporaryDirectory(prefix="twin-") as home:
        subject = CoreHistory() if seed % CORE_EVERY == CORE_EVERY - 1 else Tallies()
        simulation = Simulation(seed, Path(home), build_clients, copy, subject)
        try:
            simulation.run(actions)
        except AssertionError as error:
            error.add_note("\n".join(simulation.scheduler.trace))
            raise
        return simulation.told
