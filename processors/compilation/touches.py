"""When what a question may be about was touched last (spec 5.9), looked up when it is asked.

``slot:<subject> NUL <slot>``, ``dimension:<name>``, ``scene:<name>``, ``proposal:<hex>``,
``predicate:<id>`` and ``obligation:<id>``. Most turns ask nothing, so nothing is built ahead.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from processors.compilation.pool import Pool
from processors.compilation.slots import slot_id
from schemas.row import TouchRow


@dataclass(frozen=True, slots=True)
class Touches(Mapping[str, TouchRow]):
    """The touches of one turn: rows written by the fold, and what its events say themselves.

    A form that the user fills in for a scene is an answer there, also where it answers something
    else than was asked.
    """

    rows: Mapping[str, TouchRow]
    pool: Pool

    def __getitem__(self, what: str) -> TouchRow:
        """Return the last touch; KeyError when nothing ever touched it."""
        row, said = self.rows.get(what), _find_said(self.pool, what)
        if row is None and said == 0:
            raise KeyError(what)
        return row if row is not None and row.seq >= said else TouchRow(said)

    def __iter__(self) -> Iterator[str]:
        """Yield every name, each once, sorted."""
        names = dict.fromkeys(self.rows)
        names.update(dict.fromkeys(f"slot:{slot_id(*key)}" for key in self.pool.list_stated()))
        names.update(dict.fromkeys(f"dimension:{name}" for name in self.pool.recollection.touched))
        names.update(dict.fromkeys(f"scene:{name}" for name in self.pool.recollection.scenes))
        return iter(sorted(names))

    def __len__(self) -> int:
        """Return how many names there are."""
        return sum(1 for _ in self)


def _find_said(pool: Pool, what: str) -> int:
    """Return the seq of the last event that said something about it, 0 for none."""
    kind, _, name = what.partition(":")
    if kind == "dimension":
        return pool.recollection.touched.get(name, 0)
    if kind == "scene":
        return pool.recollection.scenes.get(name, 0)
    if kind == "slot":
        subject, _, slot = name.partition("\0")
        bearings = pool.find_stated((subject, slot)).bearings
        return max((bearing.standing.seq for bearing in bearings), default=0)
    return 0
