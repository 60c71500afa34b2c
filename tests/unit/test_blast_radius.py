"""The blast radius of drawn events, against turns decided on copied rows with the event erased."""

import random

import pytest

from infra.audit.blast_radius import measure_blast_radius
from infra.audit.history import EmbeddedHistory
from schemas.codec import frame
from schemas.identity import record_key
from streams.core_reducer import CoreReducer
from streams.embedded import Embedded
from streams.ports import NewRecord
from tests.otherwise import erased, list_flips, recompute
from tests.random_history import tell_crowd

DRAWN = 12


@pytest.mark.parametrize("seed", [5, 6])
def test_endings_flip_as_an_independent_recomputation_says(seed, tmp_path):
    """For each drawn event the turns that end otherwise are exactly those, and end exactly so."""
    events = tell_crowd(seed, users=2, events=120).events
    told = [one for one in events if one.user]
    with Embedded(tmp_path / "log", CoreReducer()) as embedded:
        embedded.append([NewRecord(record_key(e.tenant, e.user), frame(e)) for e in events])
        embedded.fold_pending()
        records = embedded.log.read(0, limit=len(events))
        history = EmbeddedHistory(embedded)
        measured, expected = {}, {}
        for one in random.Random(seed).sample(told, DRAWN):
            found = measure_blast_radius(history, one.tenant, one.user, one.event_id)
            if found is None:
                continue
            name = one.user, one.event_id
            measured[name] = {flip.turn_id: (flip.recorded, flip.without) for flip in found.endings}
            flips = list_flips(recompute(records, erased(*name)))
            expected[name] = {turn: (spell(a), spell(b)) for (_, turn), (a, b) in flips.items()}

    assert expected == measured
    assert any(measured.values())


def spell(ending):
    """Return an ending as a blast radius spells it."""
    kind, _, rest = ending.partition(" ")
    if kind == "commitment":
        return f"commitment {rest[:12]}"
    return f"{kind}:{rest}" if rest else kind
