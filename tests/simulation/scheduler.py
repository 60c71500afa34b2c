"""Simulated processes that run one at a time: real code in threads that hand on one baton.

Every request to the broker and every named crash point is a step; at a step another process may go
on, and a process may die as by kill -9. One seed gives one order of steps.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from random import Random
from typing import Any

STAY = 0.55
"""How often a process goes on at a step without another having its turn."""


class Crashed(BaseException):
    """Ends the thread of a killed process; no code of ours handles it."""


class Exited(BaseException):
    """Ends the thread of a process that exits by itself."""


class TwinClock:
    """The time of the whole simulation; waiting lets others go on."""

    def __init__(self, scheduler: "Scheduler") -> None:
        self.at_ns = 0
        self._scheduler = scheduler

    def now_ms(self) -> int:
        """Return the wall time, the same for all."""
        return 1_800_000_000_000 + self.at_ns // 1_000_000

    def steady_ns(self) -> int:
        """Return the steady time; each look takes up to two milliseconds."""
        self.at_ns += self._scheduler.chance.randrange(2_000_000)
        return self.at_ns

    def wait(self, duration_ms: int) -> None:
        """Return when others had their turn and the time has passed."""
        self._scheduler.step("wait", wait_ms=duration_ms)


class Process:
    """One simulated process: a thread that runs only while it holds the baton."""

    def __init__(
        self, scheduler: "Scheduler", name: str, body: Callable[["Process"], None]
    ) -> None:
        self.name = name
        self.baton = threading.Semaphore(0)
        self.wakes_at_ns = 0
        self.frozen_until_ns = 0
        self.dead = False
        self.ended = False
        self.failure: BaseException | None = None
        self.last = "start"
        self._scheduler = scheduler
        self._body = body
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        self.baton.acquire()
        try:
            if not self.dead:
                self._body(self)
        except (Crashed, Exited):
            pass
        except BaseException as error:  # shown by the seed that met it
            self.failure = error
        self.ended = True
        self._scheduler.baton.release()


class Scheduler:
    """Hands the baton to one process after the other, in the order that the seed draws."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.clock = TwinClock(self)
        self.baton = threading.Semaphore(0)
        self.processes: list[Process] = []
        self.current: Process | None = None
        self.steps = 0
        self.calm = False
        self.trace: deque[str] = deque(maxlen=60)

    def start(self, name: str, body: Callable[[Process], None]) -> Process:
        """Start a process; it runs when its turn comes."""
        process = Process(self, name, body)
        self.processes.append(process)
        return process

    def step(self, what: str, *, wait_ms: int = 0) -> None:
        """Pass a step of the running process: others may go on here, and it may die here."""
        process = self.current
        assert process is not None, f"{what}: only a simulated process takes steps"
        if process.dead:
            raise Crashed
        self.steps += 1
        process.last = what
        self.trace.append(f"{self.clock.at_ns // 1_000_000} ms {process.name}: {what}")
        if wait_ms == 0 and self.chance.random() < STAY:
            return
        process.wakes_at_ns = self.clock.at_ns + wait_ms * 1_000_000
        self.baton.release()
        process.baton.acquire()
        if process.dead:
            raise Crashed

    def turn(self) -> bool:
        """Let one process go on until it hands the baton back; return whether any could."""
        self.processes = [process for process in self.processes if not process.ended]
        ready = [p for p in self.processes if p.frozen_until_ns <= self.clock.at_ns]
        if not ready:
            return False
        awake = [p for p in ready if p.wakes_at_ns <= self.clock.at_ns]
        if not awake:
            self.clock.at_ns = min(process.wakes_at_ns for process in ready)
            awake = [p for p in ready if p.wakes_at_ns <= self.clock.at_ns]
        self.run(self.chance.choice(awake))
        return True

    def run(self, process: Process) -> None:
        """Hand the baton to a process and wait until it comes back."""
        self.current = process
        process.baton.release()
        self.baton.acquire()
        self.current = None
        self.clock.at_ns += 200_000

    def kill(self, process: Process) -> None:
        """End a process where it stands; nothing that its code does on the way out counts."""
        process.dead = True
        self.trace.append(f"{self.clock.at_ns // 1_000_000} ms {process.name}: killed")
        while not process.ended:
            self.run(process)


class AtOnce(Executor):
    """A pool of threads that does each task when it is submitted."""

    def __init__(self, _number: int, _name: str) -> None:
        pass

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a future that is done; the end of a process is no result."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # kept for whoever asks, as a pool does
            future.set_exception(error)
        return future

    def shutdown(self, *_: Any, **__: Any) -> None:
        """Do nothing: no task is under way."""
