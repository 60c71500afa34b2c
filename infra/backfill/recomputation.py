"""The folding of a backfill: a recorded history, and beside it each decision under other settings.

With recorded feedback the history goes on with the recorded outcomes' consequences and every
decision is recomputed on it; with own feedback it goes on with the recomputed ones.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from infra.audit.history import Recorded
from infra.backfill.plan import BackfillError, Feedback, Plan
from infra.backfill.turns import Turn, describe_ending
from infra.records import OUTCOME_TOPICS, read_output
from processors import decision
from processors.compilation.control import read_regime
from processors.compilation.draft import owner_of
from processors.decision import STALE_PACKET
from processors.ruleset import UnknownRulesetError
from processors.view import Stamp, Step, View
from processors.whatif import (
    ANSWERS,
    answer_otherwise,
    ask_otherwise,
    decide_otherwise,
    override_regime,
    read_turn_id,
    show_otherwise,
)
from schemas.codec import DecodeError, decode
from schemas.event import Event
from schemas.fate import Fate, FateStatus, RejectionReason
from schemas.record import compile_building
from schemas.row import PendingRow
from schemas.turn import TurnRequested
from streams.core_reducer import hide_detail
from streams.opening import ErasedEventError, Opened, Opener, PlainOpener
from streams.scratch_rows import ScratchRows
from streams.user_cache import CachedView, UserCache

EVENTS_PER_FLUSH: Final = 8_000
FATES_KEPT: Final = 4_096
_build_stamp: Final = compile_building(Stamp)
_TURN_EVENTS: Final = (TurnRequested, *ANSWERS)

TurnKey = tuple[str, str, str]


class Recomputation:
    """One lane of a backfill: give it records in log order, then ask for its turns."""

    def __init__(
        self, plan: Plan, rows: ScratchRows, *, partition: int, opener: Opener | None = None
    ) -> None:
        """Fold into these rows, which are empty."""
        self._opener = PlainOpener() if opener is None else opener
        self._plan = plan
        self._rows = rows
        self._partition = partition
        self._cache = UserCache()
        self._turns: dict[TurnKey, Turn] = {}
        self._pending: dict[TurnKey, PendingRow] = {}
        self._held = 0
        self._lost: set[bytes | None] = set()

    def turns(self) -> Iterator[Turn]:
        """Yield every accepted turn in the order of the requests."""
        yield from self._turns.values()

    def fold(self, recorded: Recorded) -> None:
        """Fold one record; what was refused when it was recorded is passed over.

        Raises:
            BackfillError: the history does not lead to what it recorded.
        """
        fate = _read_fate(recorded.fate)
        opened = self._open(recorded, fate)
        if opened is None:
            return
        event, body, digest = opened
        owner = owner_of(event)
        record = recorded.record
        is_own = owner == (event.tenant, event.user)
        key = record.key if is_own else self._opener.key_of(*owner)
        view = self._cache.view(self._rows, *owner, key)
        stamp = _build_stamp(
            digest, record.timestamp_ms, self._partition, record.offset, len(body), _judge(fate),
            record.key if self._opener.hides else None,
        )  # fmt: skip
        if fate.reason is RejectionReason.CORE_FAULT:
            step = decision.fault(view, event, stamp, fate.detail.partition(" ")[0])
        elif self._plan.feedback is Feedback.OWN:
            event, step = self._fold_own(view, event, stamp, recorded, fate)
        else:
            if fate.status is not FateStatus.ACCEPTED:
                return
            step = self._fold_recorded(view, event, stamp, recorded, fate)
        self._cache.hold(view, step.changes, event, body)
        self._held += 1
        if self._held >= EVENTS_PER_FLUSH:
            self._flush()

    def _open(self, recorded: Recorded, fate: Fate) -> Opened | None:
        """Return the event of a record that the core has seen, None of any other.

        A user of whom an event was erased is left out from there on.
        """
        if recorded.record.key in self._lost:
            return None
        if fate.status is FateStatus.REJECTED and fate.reason in _NEVER_OPENED:
            return None
        try:
            return self._opener.open(recorded.record)
        except DecodeError:
            return None
        except ErasedEventError:
            self._lost.add(recorded.record.key)
            return None

    def _flush(self) -> None:
        released = self._cache.release()
        self._rows.apply({key: value for _, rows in released for key, _, _, value in rows})
        self._held = 0

    def _fold_recorded(
        self, view: CachedView, event: Event, stamp: Stamp, recorded: Recorded, fate: Fate
    ) -> Step:
        """Recompute the event's decision beside the history, then fold what was recorded."""
        if isinstance(event.payload, _TURN_EVENTS):
            self._note_recorded(view, event, fate, recorded)
            self._recompute(view, event, stamp, fate)
        step = decision.step(view, event, stamp)
        expected = hide_detail(step.fate) if self._opener.hides else step.fate
        if expected != fate:
            raise BackfillError(
                f"the event at offset {stamp.offset} folds otherwise than recorded: find out why "
                "with commitments replay"
            )
        return step

    def _recompute(self, view: View, event: Event, stamp: Stamp, fate: Fate) -> None:
        key = (event.tenant, event.user, read_turn_id(event))
        turn, pending = self._turns.get(key), self._pending.pop(key, None)
        if turn is None or (pending is None) != isinstance(event.payload, TurnRequested):
            return
        if fate.ignored == STALE_PACKET:
            assert pending is not None
            self._pending[key] = pending
            return
        sent = self._send(event, key)
        try:
            otherwise = decide_otherwise(view, sent, stamp, self._plan.override, pending)
        except UnknownRulesetError:
            raise
        except Exception as error:
            # A fault of the core under these settings is a result of the evaluation.
            turn.fault = type(error).__name__
            return
        if otherwise.step.fate.status is not FateStatus.ACCEPTED:
            turn.fault = f"rejected: {otherwise.step.fate.detail}"
            return
        turn.take(otherwise.step.outputs)
        if otherwise.pending is not None:
            self._pending[key] = otherwise.pending

    def _fold_own(
        self, view: CachedView, event: Event, stamp: Stamp, recorded: Recorded, fate: Fate
    ) -> tuple[Event, Step]:
        is_turn = isinstance(event.payload, _TURN_EVENTS)
        if is_turn and fate.status is FateStatus.ACCEPTED:
            self._note_recorded(view, event, fate, recorded)
        key = (event.tenant, event.user, read_turn_id(event) if is_turn else "")
        sent = self._send(event, key) if is_turn and fate.ignored != STALE_PACKET else event
        step = decision.step(show_otherwise(view, self._plan.override), sent, stamp)
        turn = self._turns.get(key)
        if turn is not None:
            turn.take(step.outputs)
        return sent, step

    def _send(self, event: Event, key: TurnKey) -> Event:
        if isinstance(event.payload, TurnRequested):
            return ask_otherwise(event, self._plan.override)
        return answer_otherwise(event, self._plan.candidates.get(key))

    def _note_recorded(self, view: View, event: Event, fate: Fate, recorded: Recorded) -> None:
        key = (event.tenant, event.user, read_turn_id(event))
        if isinstance(event.payload, TurnRequested):
            assert fate.seq is not None, "an accepted event of a user has a seq"
            regime = override_regime(read_regime(view), self._plan.override)
            self._turns[key] = Turn(*key, event.payload.scene, fate.seq, regime.ruleset)
        turn = self._turns.get(key)
        for output in recorded.outputs:
            if output.topic in OUTCOME_TOPICS and turn is not None:
                value = self._opener.unseal(output.value)
                if value is not None:
                    turn.recorded = describe_ending(read_output(output.topic, value))


@lru_cache(FATES_KEPT)
def _read_fate(body: bytes) -> Fate:
    """Return a recorded fate; those of accepted events differ between users in nothing."""
    return decode(Fate, body)


def _judge(fate: Fate) -> str:
    """Return what checking the mac once gave, as the fate implies (spec 1.3)."""
    return "failed" if fate.reason is RejectionReason.UNAUTHENTICATED else "verified"


_NEVER_OPENED: Final = frozenset(
    {
        RejectionReason.MISSING_KEY,
        RejectionReason.NULL_VALUE,
        RejectionReason.EMPTY_VALUE,
        RejectionReason.BAD_MAGIC,
        RejectionReason.UNKNOWN_SCHEMA_ID,
        RejectionReason.UNRESOLVABLE,
        RejectionReason.SCHEMA_VIOLATION,
        RejectionReason.KEY_USER_MISMATCH,
        RejectionReason.WRONG_PARTITION,
        RejectionReason.TOO_LARGE,
        RejectionReason.TIME_AHEAD,
    }
)
"""Refused for what the bytes or the log say, under any settings."""
