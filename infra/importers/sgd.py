"""Schema-Guided Dialogue as a log: annotated dialogues in, events out, labels apart.

One dialogue is one user of tenant ``sgd``, also where it spans several services. Times are
made: each dialogue begins on 2019-03-01, the day the corpus takes for today, at UTC; a turn
takes a minute. ``import_sgd`` and ``label_sgd`` walk the same way, so turn ids agree.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from infra.importers.envelope import Scribe, build_genesis
from infra.importers.sgd_catalogue import build_catalogue
from infra.importers.sgd_files import SgdSources, find_sources, read_dialogues
from infra.importers.sgd_label import GOLD, MADE_WRONG, SgdLabel
from infra.importers.sgd_state import Memory
from infra.importers.sgd_system_turn import read_system_turn
from infra.importers.sgd_user_turn import read_user_turn
from infra.importers.sources import SourceError
from schemas.event import Event

TENANT: Final = "sgd"
CANDIDATES: Final = (GOLD, *(point.value for point in MADE_WRONG))
GOLD_ONLY: Final = frozenset({GOLD})
BEGIN_MS: Final = 1_551_430_800_000  # 2019-03-01T09:00Z.
TURN_MS: Final = 60_000


def import_sgd(paths: Sequence[Path], candidates: frozenset[str] = GOLD_ONLY) -> Iterator[Event]:
    """Yield the events of SGD files or folders, a genesis record first.

    ``gold`` offers every annotated call as a candidate; the made-wrong kinds are offered
    besides, each alone in a turn of its own before the right one.

    Raises:
        SourceError: a file, a dialogue or a kind of candidate is not as it should be.

    """
    sources = _find(paths, candidates)
    catalogue = build_catalogue(sources.services)
    yield build_genesis(TENANT, catalogue, at_ms=BEGIN_MS, utc_offset_min=0)
    for item in _walk(sources, candidates):
        if isinstance(item, Event):
            yield item


def label_sgd(paths: Sequence[Path], candidates: frozenset[str] = GOLD_ONLY) -> Iterator[SgdLabel]:
    """Yield what the annotation says about each turn that ``import_sgd`` asks for, in order.

    Raises:
        SourceError: as ``import_sgd``.

    """
    for item in _walk(_find(paths, candidates), candidates):
        if isinstance(item, SgdLabel):
            yield item


def _find(paths: Sequence[Path], candidates: frozenset[str]) -> SgdSources:
    for kind in sorted(candidates):
        if kind not in CANDIDATES:
            known = ", ".join(CANDIDATES)
            raise SourceError("candidates", f"{kind!r} is no kind", f"choose from {known}")
    return find_sources(paths)


def _walk(sources: SgdSources, kinds: frozenset[str]) -> Iterator[Event | SgdLabel]:
    for dialogue in read_dialogues(sources):
        yield from _walk_dialogue(dialogue, sources, kinds)


def _walk_dialogue(
    dialogue: Mapping[str, Any], sources: SgdSources, kinds: frozenset[str]
) -> Iterator[Event | SgdLabel]:
    name, turns = dialogue["dialogue_id"], dialogue["turns"]
    scribe = Scribe(TENANT, name, at_ms=BEGIN_MS, utc_offset_min=0)
    memory = Memory(scribe, sources.services)
    for number, turn in enumerate(turns):
        scribe.move(f"{name}/{number}", at_ms=BEGIN_MS + number * TURN_MS)
        if turn["speaker"] == "USER":
            yield from read_user_turn(memory, turn)
        else:
            following = turns[number + 1 : number + 3]
            yield from read_system_turn(memory, turn, following, kinds)
