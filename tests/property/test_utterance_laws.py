"""Which utterances leave at the limit: the oldest that are left, whatever was taken back."""

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from processors.compilation import evidence as evidence_module
from schemas.row import EventRow, TextsRow
from tests.given import event, evidence, given, said, unit, withdrawn

LIMIT = 40
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 40)),
        st.tuples(st.just("tell"), st.integers(1, 3)),
        st.tuples(st.just("withdraw"), st.integers(0, 200)),
    ),
    max_size=30,
)


@pytest.fixture(scope="module", autouse=True)
def _low_limit():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence_module, "UNITS_MAX", LIMIT)
        yield


@drawn(steps=STEPS)
def test_the_oldest_texts_that_are_left_leave_first(steps):
    """A plain list of what stands, cut from the front, has the rows that the fold has."""
    history, standing, told = given(), [], 0
    for kind, number in steps:
        for _ in range(number if kind == "say" else 1):
            seq = history.head().seq + 1 if history.head() else 1
            if kind == "withdraw":
                names = [f"t{other}" for other in standing]
                if not names:
                    continue
                target = number % len(names)
                history.send(event(withdrawn(names[target])))
                standing.pop(target)
            elif kind == "say":
                history.send(event(said("x"), event_id=f"t{seq}"))
                standing.append(seq)
            elif told < LIMIT // 2:
                told += 1
                history.send(event(evidence(unit(f"u{seq}"))))
        standing = standing[max(0, len(standing) + told - LIMIT) :]
    rows = [
        int(row_id) for row_id, row in history.scan(EventRow) if hasattr(row.event.payload, "text")
    ]

    assert standing == rows
    assert len(standing) == (history.head().texts if history.head() else 0)
    assert all(row.places for _, row in history.scan(TextsRow))
