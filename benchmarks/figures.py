"""One measured figure: what it is, what it must be, what it aims at, and whether it may count."""

import importlib
import resource
from typing import NamedTuple


class Figure(NamedTuple):
    """A figure of the issue's list, by its letter.

    ``rises``: more is better. Without ``floor`` it is told for information. ``valid`` is False
    when the two sides that were compared gave different results: then the figure says nothing.
    """

    letter: str
    what: str
    value: float
    unit: str = "x"
    floor: float | None = None
    aim: float | None = None
    rises: bool = False
    valid: bool = True

    @property
    def verdict(self):
        """Return "void", "MISSED", "floor", "aim", or "" where nothing is asked."""
        if not self.valid:
            return "void"
        if self.floor is None:
            return ""
        if not self._reaches(self.floor):
            return "MISSED"
        return "aim" if self.aim is not None and self._reaches(self.aim) else "floor"

    def _reaches(self, bound):
        return self.value >= bound if self.rises else self.value <= bound


def measure_part(name):
    """Return the figures of one module of this folder, and this process's peak memory in MiB."""
    figures = importlib.import_module(f"benchmarks.{name}").list_figures()
    return figures, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
