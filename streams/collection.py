"""How often Python looks for cyclic garbage while a log is folded: rarely, as folding makes none.

Rows and records die by their reference counts. Looking for cycles among the many that are kept
costs a tenth of folding at Python's own pace. It also stops everything meanwhile, half a second
for each million objects looked at, so the young ones are looked at in small portions.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (5_000, 5, 500)
"""Objects made, less those freed, before the youngest are looked at, and how many such times
before the older and the oldest are. Python's own are 700, 10 and 10."""


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Collect less often inside the block, also for other threads."""
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
