"""Recorded dialogues played turn by turn: a model answers each turn where it stands.

The candidates that a recording holds are left out; what was said stays. Embedded the answers come
from a backend at hand, over Kafka from whoever serves as generator there. Nothing is decided here.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, Final

from infra.generation.pending import Answered
from infra.importers.registry import IMPORTERS
from infra.kafka_appending import EventProducer
from infra.outcome_reader import OutcomeReader
from schemas.event import CandidatesProposed, Event, TurnRequested
from streams.connection import Connection
from streams.failures import StoreUnavailableError

POLL_S: Final = 0.2

Turn = tuple[str, str, str]
Outcomes = dict[Turn, list[Any]]


def read_dialogues(kind: str, sources: Sequence[Path], *, dialogues: int | None) -> Iterator[Event]:
    """Yield the events of the first dialogues of a corpus, without the candidates it proposes.

    Raises:
        SourceError: a source is not of that format.

    """
    users: dict[str, None] = {}
    for event in IMPORTERS[kind](sources, frozenset({"gold"}), []):
        if event.user and event.user not in users:
            if len(users) == dialogues:
                return
            users[event.user] = None
        if not isinstance(event.payload, CandidatesProposed):
            yield event


class KafkaStage:
    """Plays events onto Kafka; each turn ends before what follows it in the history is appended.

    So a user's answers stand where they stand on an embedded log, and the outcomes are the same.
    """

    def __init__(
        self, connection: Connection, *, prefix: str, partitions: int, wait_s: float
    ) -> None:
        """Begin to read outcomes; ``wait_s`` bounds the wait for each."""
        self._producer = EventProducer(connection, prefix=prefix, partitions=partitions)
        self._reader = OutcomeReader(
            connection, group=f"{prefix}consumer-play-{uuid.uuid4().hex}", prefix=prefix
        )
        self._wait_s = wait_s
        self.outcomes: Outcomes = {}

    def play(self, events: Iterable[Event], progress: Callable[[int], None]) -> None:
        """Append a history and wait for the outcome of each of its turns.

        Raises:
            StoreUnavailableError: the brokers do not answer, or a turn does not end in time.

        """
        held: list[Event] = []
        turns = 0
        for event in events:
            held.append(event)
            if isinstance(event.payload, TurnRequested):
                self._producer.append(held)
                held = []
                self._await((event.tenant, event.user, event.event_id))
                turns += 1
                progress(turns)
        self._producer.append(held)

    def close(self) -> None:
        """Leave the brokers, after a last look for outcomes that should not be there."""
        while self._read():
            pass
        self._reader.__exit__()

    def _await(self, turn: Turn) -> None:
        until = monotonic() + self._wait_s
        while turn not in self.outcomes:
            if monotonic() > until:
                raise StoreUnavailableError(
                    f"turn {turn[2]} did not end within {self._wait_s:.0f} s; do serve --role "
                    "ledger and serve --role generator run on these topics?"
                )
            self._read()

    def _read(self) -> bool:
        outcome = self._reader.read(POLL_S)
        if outcome is None:
            return False
        record = outcome.record
        turn = (record.tenant, record.user, record.turn_id)
        self.outcomes.setdefault(turn, []).append(record)
        return True


def describe_outcomes(outcomes: Outcomes) -> dict[str, Any]:
    """Return how many turns ended, how many in exactly one outcome, and the outcomes by kind."""
    kinds: Counter[str] = Counter()
    for records in outcomes.values():
        for record in records:
            what = getattr(record, "act", None) or getattr(record, "kind", None) or "commitment"
            reason = getattr(record, "reason", None)
            kinds[f"{what} ({reason})" if reason else str(what)] += 1
    return {
        "turns": len(outcomes),
        "turns_with_one_outcome": sum(len(found) == 1 for found in outcomes.values()),
        "outcomes": dict(sorted(kinds.items())),
    }


def describe_answers(answers: Sequence[Answered]) -> dict[str, Any]:
    """Return how good answers were: packets, those with candidates, failures and attempts."""
    payloads: list[Any] = [answered.event.payload for answered in answers]
    pairs = list(zip(answers, payloads, strict=True))
    attempts = [attempt for payload in payloads for attempt in payload.attempts]
    return {
        "model": payloads[-1].decoding.model if payloads else "",
        "packets": len(answers),
        "with_candidates": sum(not answered.failed for answered in answers),
        "failures": _count(payload.kind.value for one, payload in pairs if one.failed),
        "attempts": _count(attempt.outcome for attempt in attempts),
        "median_latency_ms": _middle([attempt.latency_ms for attempt in attempts]),
        "median_packet_tokens": _middle([one.packet_tokens for one in answers]),
        "median_history_tokens": _middle([one.history_tokens for one in answers]),
        "median_saving_percent": _middle([one.saving_percent for one in answers]),
    }


def _middle(numbers: list[int]) -> int:
    return round(median(numbers)) if numbers else 0


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
