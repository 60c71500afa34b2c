"""Group membership in the simulation: who owns what, and what each member still believes.

Safety must not rest on any answer given here: a member may believe for long that it owns what
another was given.
"""

from random import Random

from tests.simulation.scheduler import Process, Scheduler

SESSION_NS = 6_000_000_000
IDLE_MS = 400


class TwinGroup:
    """The coordinator: members, and one assignment at a time."""

    def __init__(self, partitions: int, chance: Random) -> None:
        self.members: dict[str, Process] = {}
        self.owners: dict[int, str] = {}
        self.generation = 0
        self._partitions = partitions
        self._chance = chance

    def join(self, process: Process) -> None:
        """Take a member in and assign anew."""
        self.members[process.name] = process
        self.assign()

    def leave(self, name: str) -> None:
        """Let a member go and assign anew."""
        if self.members.pop(name, None) is not None:
            self.assign()

    def assign(self) -> None:
        """Deal the partitions out, another way each time."""
        self.generation += 1
        names = sorted(self.members)
        self._chance.shuffle(names)
        self.owners = {p: names[p % len(names)] for p in range(self._partitions) if names}

    def expire(self, now_ns: int) -> None:
        """Let go who has not been heard of for a session."""
        for name, process in sorted(self.members.items()):
            silent = process.frozen_until_ns > now_ns
            if process.ended or (silent and now_ns - process.wakes_at_ns > SESSION_NS):
                self.leave(name)


class TwinOwnership:
    """One member's view, which follows the coordinator late."""

    def __init__(self, group: TwinGroup, scheduler: Scheduler, process: Process) -> None:
        self._group, self._scheduler, self._process = group, scheduler, process
        self._view: frozenset[int] = frozenset()

    def confirmed(self) -> frozenset[int]:
        """Return the partitions of the last assignment that was heard of."""
        if self._scheduler.calm or self._scheduler.chance.random() < 0.3:
            if self._process.name not in self._group.members:
                self._group.join(self._process)
            owners = self._group.owners.items()
            self._view = frozenset(p for p, name in owners if name == self._process.name)
        return self._view

    def accept(self, partition: int) -> bool:
        """Return whether the coordinator takes this member for the owner now."""
        self._scheduler.step("accept")
        if not self._scheduler.calm and self._scheduler.chance.random() < 0.05:
            return False
        return self._group.owners.get(partition) == self._process.name

    def wait(self, timeout_s: float) -> None:
        """Return after a while."""
        self._scheduler.step("idle", wait_ms=IDLE_MS)
