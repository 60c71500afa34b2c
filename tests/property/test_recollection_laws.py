"""What a user's rows bear, gone through once and on from there, against going through them anew."""

import random
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from processors import decision
from processors.compilation.pool import read_pool
from processors.compilation.recollection import recollect
from processors.view import Rows
from schemas.candidate import SlotValue
from schemas.codec import encode
from schemas.observation import CommitmentObserved, FormSubmitted
from schemas.row import ConsequenceRow, EventRow, PredicateRow, StatementRow
from streams.user_cache import UserCache
from tests.fold_events import HOUR_MS, SLOTS, START_MS, write_history
from tests.given import genesis, stamp_of, turn

SCOPES = ("home", "work")


class NoRows:
    """A store that never held anything: all rows are in the cache."""

    def get(self, _key):
        return None

    def scan(self, _prefix):
        return iter(())


@dataclass(frozen=True)
class Anew:
    """The same rows in lists that nothing is kept with."""

    below: object

    def get(self, record, row_id):
        return self.below.get(record, row_id)

    def scan(self, record, prefix=""):
        return list(self.below.scan(record, prefix))


def write_scoped(seed, size):
    """Return a history in which forms have scopes and commitments have consequences."""
    draw = random.Random(seed)
    for event in write_history(seed, size):
        payload = event.payload
        if isinstance(payload, FormSubmitted):
            scopes = draw.choice(((), (), ("home",), ("work",), SCOPES))
            yield replace(event, payload=replace(payload, scopes=scopes))
        elif isinstance(payload, CommitmentObserved):
            slot = SlotValue(draw.choice(SLOTS), draw.choice(("vegan", "soup")))
            yield replace(event, payload=replace(payload, slots=(slot,)))
        else:
            yield event


def draw_lens(draw):
    """Return a turn, its moment, and the slots that are sets there."""
    asked = turn(scopes=tuple(draw.sample(SCOPES, draw.randint(0, 2))))
    return asked, START_MS + draw.randint(0, 40) * HOUR_MS, draw.choice(((), (), ("diet",)))


def read(view, lens):
    """Return what a turn sees, as plain values."""
    asked, as_of_ms, set_slots = lens
    kept = recollect(view)
    contract = [row for _, row in view.scan(PredicateRow)]
    pool = read_pool(kept, contract, asked, as_of_ms, set_slots)
    stated = [
        (key, sorted((one.standing.seq, one.place) for one in pool.find_stated(key).bearings))
        for key in pool.list_stated()
    ]
    units = sorted(pool.units, key=lambda item: item[:2])
    found = (list(pool.slots.items()), list(pool.values.items()), pool.preferences, units)
    return *found, stated, kept.touched, kept.scenes


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_going_on_finds_what_going_through_all_finds(seed):
    """After every event, at any moment and inside any scopes, both see the same."""
    draw = random.Random(seed)
    cache, lens = UserCache(), draw_lens(draw)
    for event in (genesis(), *write_scoped(seed, 40)):
        view = cache.view(NoRows(), event.tenant, event.user)
        step = decision.step(view, event, stamp_of(event))
        cache.hold(view, step.changes, event, encode(event))
        if draw.random() < 0.2:  # Mostly the next turn looks as the last one did.
            lens = draw_lens(draw)
        if event.user:
            assert read(Anew(view), lens) == read(view, lens)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_was_kept_is_found_again(seed):
    """As long as nothing changes, the same recollection is handed out, with every row taken."""
    cache = UserCache()
    for event in (genesis(), *write_scoped(seed, 10)):
        view = cache.view(NoRows(), event.tenant, event.user)
        cache.hold(view, decision.step(view, event, stamp_of(event)).changes, event, encode(event))
    kinds = (EventRow, StatementRow, ConsequenceRow)

    kept = recollect(view)

    assert all(isinstance(view.scan(record), Rows) for record in kinds)
    assert kept.taken == (0, 0, 0) or recollect(view) is kept
    assert tuple(len(view.scan(record)) for record in kinds) == kept.taken
