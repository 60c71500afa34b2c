"""How often Python looks for cyclic garbage while a log is folded: rarely, as folding makes none.

Rows and records die by their reference counts. Looking for cycles among the many that are kept
costs a tenth of folding at Python's own pace, and more where a user has many rows.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

ALLOCATIONS: Final = 50_000
"""Objects made, less those freed, before the youngest are looked at; Python's own is 700."""


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Collect less often inside the block, also for other threads."""
    before = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
