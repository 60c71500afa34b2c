"""From clauses to proposals: corrections, exceptions, strictness, and whose words they are.

What one utterance says twice in two ways is settled only by words of correction; else neither
is proposed. A rule whose exception cannot be read is not proposed at all.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Final

from infra.extraction.attitudes import Attitude, AttitudeKind, find_attitudes, find_facts
from infra.extraction.labels import find_labelled
from infra.extraction.lexicon import Lexicon, SlotKind
from infra.extraction.mentions import Mention, find_choices, find_mentions
from infra.extraction.names import find_names
from infra.extraction.passages import Clause, split_clauses
from infra.extraction.proposals import (
    OPERATORS,
    Hint,
    Proposal,
    Rule,
    build_predicate,
    render_comparison,
)
from infra.extraction.stances import Stance, find_subject, is_standing, is_strict
from processors.predicates.expression import Operator
from schemas.catalogue import SlotType
from schemas.observation import HintKind
from schemas.value import Money, Value

TASTE: Final = 700_000
"""Confidence of a taste: words of liking are used lightly."""
FACT: Final = 800_000

_EXCEPTION: Final = re.compile(r"\b(?:unless|except(?:\s+(?:when|if|for|on|in))?|other than)\b")
_CORRECTED: Final = re.compile(
    r"\b(?:no|actually|i mean|i meant|make (?:it|that)|sorry|correction|scratch that|wait|change)\b"
)
_DROPPED: Final = re.compile(r"\b(?:instead of|rather than|not)\s+(?:the\s+|at\s+|on\s+|for\s+)*$")
_BOUNDS: Final = (Stance.AT_MOST, Stance.AT_LEAST, Stance.BELOW, Stance.ABOVE)
_ORDERED: Final = (SlotType.MONEY, SlotType.INT, SlotType.DECIMAL, SlotType.DATE, SlotType.TIME)


def read_proposals(
    text: str, lexicon: Lexicon, today: datetime, zone: str | None
) -> tuple[Proposal, ...]:
    """Return what an utterance of the user may mean, in order of place; nothing is sure of it."""
    clauses = split_clauses(text)
    labelled = find_labelled(clauses, lexicon, today, text)
    found: list[Proposal] = []
    plain: list[tuple[str, Mention]] = [("", mention) for mention in labelled]
    done = {mention.start for mention in labelled}
    for clause in clauses:
        original = text[clause.start : clause.start + len(clause.text)]
        found += _list_tastes(find_attitudes(clause, original), lexicon, zone)
        found += [
            Hint(HintKind.SLOT, "", fact.slot, fact.value, FACT, fact.start, fact.end)
            for fact in find_facts(clause, today)
        ]
        if clause.supposed or clause.start in done:
            continue
        subject = find_subject(clause.text, original)
        if subject is None:
            continue
        exception = _EXCEPTION.search(clause.text)
        if exception is not None and clause.asked:
            continue
        if exception is not None:
            found += _read_excepted(clause, exception, lexicon, today, subject, zone)
            continue
        for mention in _list_mentions(clause, original, lexicon, today):
            if clause.asked and mention.slot.kind is not SlotKind.DATE:
                continue  # "What is on tomorrow?" still says for which day.
            rule = None if clause.asked else _read_rule(mention, clause.text, subject, None, zone)
            if rule is not None:
                found.append(rule)
            elif mention.stance is Stance.IS:
                plain.append((subject, mention))
    found += _settle(plain, text)
    return tuple(sorted(set(found), key=lambda one: (one.start, one.end, repr(one))))


def _list_mentions(
    clause: Clause, original: str, lexicon: Lexicon, today: datetime
) -> tuple[Mention, ...]:
    """Return what has a form of its own, and names that no such thing overlaps."""
    formed = find_mentions(clause, lexicon, today)
    free = [
        name
        for name in find_names(clause, original, lexicon)
        if not any(name.start < one.end and one.start < name.end for one in formed)
    ]
    return (*formed, *free)


def _list_tastes(
    attitudes: tuple[Attitude, ...], lexicon: Lexicon, zone: str | None
) -> Iterator[Proposal]:
    contents = lexicon.list_kind(SlotKind.CONTENTS)
    for one in attitudes:
        if one.kind is AttitudeKind.AVOID and len(contents) == 1:
            predicate = build_predicate(
                subject=one.subject,
                slot=contents[0].name,
                operator=Operator.EXCLUDES,
                value=one.thing,
                unless=None,
                zone=zone,
            )
            yield Rule(predicate, HintKind.CONSTRAINT, one.start, one.end)
        else:
            yield Hint(
                HintKind.PREFERENCE, one.subject, one.thing, one.kind.value, TASTE,
                one.start, one.end,
            )  # fmt: skip


def _read_excepted(
    clause: Clause, mark: re.Match[str], lexicon: Lexicon, today: datetime, subject: str,
    zone: str | None,
) -> Iterator[Rule]:  # fmt: skip
    """Yield the rule before an exception, with it; nothing where the exception does not read."""
    exception = _read_exception(clause.text[mark.end() :], lexicon)
    if exception is None:
        return
    head = Clause(clause.start, clause.text[: mark.start()], asked=False, supposed=False)
    for mention in find_mentions(head, lexicon, today):
        rule = _read_rule(mention, head.text, subject, exception, zone)
        if rule is not None:
            yield Rule(rule.predicate, rule.kind, rule.start, clause.start + len(clause.text))


def _read_exception(text: str, lexicon: Lexicon) -> str | None:
    """Return the exception as a condition: one label of one slot, said plainly; else None."""
    choices = [one for one in find_choices(text, lexicon) if one.stance is Stance.IS]
    if len(choices) != 1 or re.search(r"\b(?:and|or)\b", text):
        return None
    return render_comparison(choices[0].slot.name, Operator.EQ, choices[0].value)


def _read_rule(
    mention: Mention, text: str, subject: str, unless: str | None, zone: str | None
) -> Rule | None:
    """Return the rule that a denied, bounded or strictly worded mention proposes, else None.

    A wish ("not Italian, please") is proposed as a preference, which never holds a turn up.
    """
    strict = is_strict(text)
    if mention.stance in _BOUNDS and (
        mention.slot.slot_type not in _ORDERED or _lacks_currency(mention.value)
    ):
        return None
    if mention.stance is Stance.IS and not is_standing(text):
        return None
    if mention.stance is Stance.IS_NOT and mention.slot.kind in {SlotKind.COUNT, SlotKind.MONEY}:
        return None
    predicate = build_predicate(
        subject=subject,
        slot=mention.slot.name,
        operator=OPERATORS[mention.stance],
        value=mention.value,
        unless=unless,
        zone=zone if isinstance(mention.value, date) else None,
    )
    kind = HintKind.CONSTRAINT if strict else HintKind.PREFERENCE
    return Rule(predicate, kind, mention.start, mention.end)


def _lacks_currency(value: Value) -> bool:
    return isinstance(value, Money) and not value.currency


def _settle(plain: list[tuple[str, Mention]], text: str) -> Iterator[Hint]:
    """Yield one hint for each slot that is left with one value."""
    by_slot: dict[tuple[str, str], list[Mention]] = {}
    for subject, mention in plain:
        if _DROPPED.search(text[: mention.start].lower()) is None:
            by_slot.setdefault((subject, mention.slot.name), []).append(mention)
    for (subject, slot), mentions in by_slot.items():
        ordered = sorted(mentions, key=lambda one: one.start)
        kept = [ordered[0]]
        for one in ordered[1:]:
            between = text[kept[-1].end : one.start].lower()
            if repr(one.value) == repr(kept[-1].value) or _CORRECTED.search(between):
                kept[-1] = one
            else:
                kept.append(one)
        if len(kept) == 1:
            one = kept[0]
            yield Hint(HintKind.SLOT, subject, slot, one.value, one.confidence, one.start, one.end)
