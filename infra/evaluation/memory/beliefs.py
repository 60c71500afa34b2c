"""Files of PrecisionMemBench: beliefs, retrieval cases, and what other systems returned.

Only shapes are checked here; what a belief means for a turn is said where it is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.importers.sources import SourceError, find_file, pick, read_json

UNIVERSAL: Final = "user:universal"
USER: Final = "test-user"
"""Whose turn a case is when it names nobody, as in the public harness."""
MAX_BELIEFS: Final = 20
MAX_QUESTIONS: Final = 15
BELIEFS: Final = ("beliefs.seed.json",)
CASES: Final = ("retrieval_cases.json", "retrieval.cases.json")
PEERS: Final = ("peer_outputs.json",)


@dataclass(frozen=True, slots=True)
class Belief:
    """One belief of the seed; ``ended_at`` is when a question was resolved, or None."""

    belief_id: str
    user: str
    kind: str
    name: str
    aliases: tuple[str, ...]
    content: str
    why: str
    scopes: tuple[str, ...]
    pinned: bool
    superseded_by: str
    ended_at: str | None
    participants: tuple[str, ...]

    @property
    def is_question(self) -> bool:
        """Return whether it is an open question, which has a tier of its own."""
        return self.kind == "open_question"

    @property
    def text(self) -> str:
        """The text that the public harness sends to a provider."""
        parts = (self.name, *self.aliases, self.content, self.why)
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Case:
    """One retrieval case; ``expect`` as it stands in the file."""

    case_id: str
    category: str
    user: str
    scopes: tuple[str, ...]
    query: str
    max_beliefs: int
    max_questions: int
    expect: Mapping[str, Mapping[str, Any]]

    def holds(self, belief: Belief) -> bool:
        """Return whether a belief is in the scope of the case."""
        return bool({*belief.scopes} & {*self.scopes, UNIVERSAL})

    def list_expected(self, tier: str, rule: str) -> tuple[str, ...]:
        """Return the ids that a rule of a tier names."""
        return tuple(self.expect.get(tier, {}).get(rule) or ())


@dataclass(frozen=True, slots=True)
class Recorded:
    """What another system returned for a case, and whether the harness passed it."""

    pinned: tuple[str, ...]
    relevant: tuple[str, ...]
    questions: tuple[str, ...]
    passed: bool


@dataclass(frozen=True, slots=True)
class MemorySources:
    """Beliefs in file order, cases in file order, and recorded outputs by system and case."""

    beliefs: tuple[Belief, ...]
    cases: tuple[Case, ...]
    peers: Mapping[str, Mapping[str, Recorded]]


def read_memory_sources(folder: Path) -> MemorySources:
    """Return the content of a folder; recorded outputs of other systems may be absent.

    Raises:
        SourceError: a file is absent or not of this shape.

    """
    place = _find(folder, BELIEFS)
    beliefs = tuple(
        _read_belief(item, f"{place}, belief {n}") for n, item in enumerate(_read_list(place))
    )
    place = _find(folder, CASES)
    cases = tuple(
        _read_case(item, f"{place}, case {n}") for n, item in enumerate(_read_list(place))
    )
    return MemorySources(beliefs, cases, _read_peers(folder))


def _find(folder: Path, names: Sequence[str]) -> Path:
    for name in names[1:]:
        if (folder / name).is_file():
            return folder / name
    return find_file(folder, names[0])


def _read_list(path: Path) -> list[Any]:
    found = read_json(path)
    if not isinstance(found, list):
        raise SourceError(path, "no list", "name a folder of PrecisionMemBench")
    return found


def _read_belief(item: Any, place: str) -> Belief:
    return Belief(
        belief_id=pick(item, "_id", str, place),
        user=pick(item, "user_id", str, place),
        kind=pick(item, "type", str, place),
        name=pick(item, "canonical_name", str, place),
        aliases=tuple(pick(item, "aliases", list, place)),
        content=pick(item, "content", str, place),
        why=item.get("why_it_matters") or "",
        scopes=tuple(pick(item, "scope", list, place)),
        pinned=pick(item, "pinned", bool, place),
        superseded_by=item.get("superseded_by") or "",
        ended_at=item.get("resolved_at"),
        participants=tuple(item.get("participants") or ()),
    )


def _read_case(item: Any, place: str) -> Case:
    budget = item.get("budget") or {} if isinstance(item, dict) else {}
    return Case(
        case_id=pick(item, "caseId", str, place),
        category=pick(item, "category", str, place),
        user=item.get("userId") or USER,
        scopes=tuple(pick(item, "scope", list, place)),
        query=pick(item, "query", str, place),
        max_beliefs=budget.get("maxBeliefs", MAX_BELIEFS),
        max_questions=budget.get("maxQuestions", MAX_QUESTIONS),
        expect=pick(item, "expect", dict, place),
    )


def _read_peers(folder: Path) -> dict[str, dict[str, Recorded]]:
    try:
        path = _find(folder, PEERS)
    except SourceError:
        return {}
    found = read_json(path)
    if not isinstance(found, dict):
        raise SourceError(path, "no outputs by system", "remove it, or name recorded outputs")
    return {
        peer: dict(_read_recorded(item, f"{path}, {peer} {n}") for n, item in enumerate(items))
        for peer, items in sorted(found.items())
    }


def _read_recorded(item: Any, place: str) -> tuple[str, Recorded]:
    return pick(item, "caseId", str, place), Recorded(
        tuple(pick(item, "pinnedBeliefs", list, place)),
        tuple(pick(item, "relevantBeliefs", list, place)),
        tuple(pick(item, "retrievedQuestions", list, place)),
        pick(item, "passed", bool, place),
    )
