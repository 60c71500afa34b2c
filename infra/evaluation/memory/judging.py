"""What a retrieval is worth: the public harness's assertions, and what may never come back.

A context is what one case returned, by tier. Precision and recall are over the tier of relevant
beliefs; n/a where the case expects none there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infra.evaluation.memory.beliefs import Belief, Case


@dataclass(frozen=True, slots=True)
class Context:
    """What came back for a case: belief ids by tier, best first."""

    pinned: tuple[str, ...]
    relevant: tuple[str, ...]
    questions: tuple[str, ...]
    prelude: tuple[str, ...] = ()

    @property
    def returned(self) -> tuple[str, ...]:
        """All ids, each once."""
        return tuple(dict.fromkeys((*self.pinned, *self.relevant, *self.questions, *self.prelude)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One case of one arm or system, judged; ratios are parts, so that they can be summed.

    ``commits`` is what became of the whole list behind LCV, "" where nothing was gated.
    """

    arm: str
    case_id: str
    category: str
    returned: int
    superseded: int
    resolved: int
    out_of_scope: int
    other_user: int
    musts: int
    musts_present: int
    precision: float | None
    recall: float | None
    passed: bool
    failures: tuple[str, ...]
    act: str
    turn_id: str
    outcome_id: str


def judge_case(
    arm: str,
    case: Case,
    context: Context,
    beliefs: Mapping[str, Belief],
    *,
    act: str = "",
    turn_id: str = "",
    outcome_id: str = "",
) -> MemoryRow:
    """Return the row of a case; an id that no belief has counts as another user's."""
    known = [beliefs.get(one) for one in context.returned]
    musts = list_musts(case)
    present = sum(one in getattr(context, tier) for tier, one in musts)
    failures = tuple(_list_failures(case, context, beliefs))
    expected = frozenset(case.list_expected("relevantBeliefs", "shouldOnlyInclude"))
    hits = sum(one in expected for one in context.relevant)
    return MemoryRow(
        arm=arm,
        case_id=case.case_id,
        category=case.category,
        returned=len(known),
        superseded=sum(one is not None and bool(one.superseded_by) for one in known),
        resolved=sum(one is not None and one.ended_at is not None for one in known),
        out_of_scope=sum(one is not None and not case.holds(one) for one in known),
        other_user=sum(one is None or one.user != case.user for one in known),
        musts=len(musts),
        musts_present=present,
        precision=_divide(hits, len(context.relevant), empty=0.0 if expected else None),
        recall=hits / len(expected) if expected else None,
        passed=not failures,
        failures=failures,
        act=act,
        turn_id=turn_id,
        outcome_id=outcome_id,
    )


def list_musts(case: Case) -> list[tuple[str, str]]:
    """Return what a case says must come back, as (tier of the context, belief id)."""
    tiers = {"pinnedFacts": "pinned", "openQuestions": "questions", "relevantBeliefs": "relevant"}
    return [
        (own, one) for tier, own in tiers.items() for one in case.list_expected(tier, "mustInclude")
    ]


def _list_failures(case: Case, context: Context, beliefs: Mapping[str, Belief]) -> list[str]:
    union = {*context.pinned, *context.relevant}
    found = _check("relevantBeliefs", case, union)
    only = case.list_expected("relevantBeliefs", "shouldOnlyInclude")
    if "shouldOnlyInclude" in case.expect.get("relevantBeliefs", {}):
        found += [f"unexpected {one}" for one in context.relevant if one not in only]
        found += [f"missing {one}" for one in only if one not in context.relevant]
    found += _check("pinnedFacts", case, {*context.pinned})
    found += _check("openQuestions", case, {*context.questions})
    prelude = " ".join(beliefs[one].content for one in context.prelude)
    expected = case.expect.get("personaPrelude", {})
    if expected.get("nonEmpty") and not prelude:
        found.append("no persona prelude")
    found += [
        f"prelude without {word!r}" for word in expected.get("contains", ()) if word not in prelude
    ]
    return found


def _check(tier: str, case: Case, returned: set[str]) -> list[str]:
    musts = (*case.list_expected(tier, "mustInclude"), *case.list_expected(tier, "shouldInclude"))
    missing = [f"missing {one}" for one in musts if one not in returned]
    excluded = case.list_expected(tier, "mustExclude")
    return missing + [f"forbidden {one}" for one in excluded if one in returned]


def expand_relations(
    found: Sequence[str], case: Case, beliefs: Mapping[str, Belief], seen: Sequence[str]
) -> tuple[str, ...]:
    """Return the participants of relations among what was found, as the harness adds them.

    Of those only what may come back at all: of this user and scope, not superseded or resolved,
    and no question.
    """
    added = []
    for relation in found:
        for one in beliefs[relation].participants if relation in beliefs else ():
            other = beliefs.get(one)
            if other is None or one in seen or one in found or one in added:
                continue
            live = not other.superseded_by and other.ended_at is None and not other.is_question
            if live and other.user == case.user and {*other.scopes} & {*case.scopes}:
                added.append(one)
    return tuple(added)


def _divide(part: int, whole: int, *, empty: float | None) -> float | None:
    return part / whole if whole else empty
