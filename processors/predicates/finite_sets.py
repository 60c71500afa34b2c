"""Strings and collections: whether some value meets all that is asked of it (spec 2.7).

A finite list of candidates is tried with the very comparisons that evaluation uses; where
nothing bounds the candidates there is always another string, and no conflict.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from processors.predicates.atoms import ByKind, Contains, OneOf, Pair, Text, Within
from processors.predicates.comparison import judge_equal
from processors.predicates.expression import Match
from processors.predicates.scope import Scope, Setting
from processors.predicates.strings import contains_words, equal_exact, equal_folded
from processors.predicates.unions import climb, join
from processors.predicates.verdict import FAILS, HOLDS, MISSING
from schemas.value import Value

# Strings that fold alike are endless: this one stands for those that are not the literal.
_VARIANT: Final = "\u00ad"
_FREE: Final = "another value"
_FREE_TRIES: Final = 4
_SCOPE: Final = Scope(slots={})


def solve_strings(by_kind: ByKind, chained: Sequence[str]) -> Mapping[str, str] | None:
    """Return a string for every slot that must be one; None when the atoms cannot all be true.

    ``chained`` names the slots among which equality with the same is equality with each other.
    """
    members = [*by_kind.get(Text, ()), *by_kind.get(OneOf, ())]
    pairs: list[Pair] = by_kind.get(Pair, [])
    if not members and not pairs:
        return {}
    # Slots that are exactly equal share one string; other pairs are checked on the result.
    parents: dict[str, str] = {}
    for pair in pairs:
        if pair.positive and pair.match is Match.EXACT:
            join(parents, pair.left, pair.right)
    by_string: dict[str, list[Text | OneOf]] = {}
    for atom in members:
        by_string.setdefault(climb(parents, atom.name), []).append(atom)
    chosen: dict[str, str] = {}
    for name, group in by_string.items():
        text = find_string(group)
        if text is None:
            return None
        chosen[name] = text
    fixed = {name: _fix(group) for name, group in by_string.items()} if pairs else {}
    direct = [pair[:2] for pair in pairs if pair.positive and pair.match is Match.EXACT]
    for pair in pairs:
        same = pair[:2] in direct or pair[1::-1] in direct or pair.left in chained
        if not _agrees(pair, parents if same else {}, fixed):
            return None
    return {atom.name: chosen[climb(parents, atom.name)] for atom in members}


def _agrees(pair: Pair, parents: Mapping[str, str], fixed: Mapping[str, str | None]) -> bool:
    left, right = climb(parents, pair.left), climb(parents, pair.right)
    if left == right:
        return pair.positive
    one, other = fixed.get(left), fixed.get(right)
    if one is None or other is None:
        return True
    return _match(one, other, pair.match) is pair.positive


def _fix(members: Sequence[Text | OneOf]) -> str | None:
    """Return the only string that is possible, if an exact equality names it."""
    for atom in members:
        if isinstance(atom, Text) and atom.positive and atom.match is Match.EXACT:
            return atom.literal
        if isinstance(atom, OneOf) and atom.match is Match.EXACT and len(atom.literals) == 1:
            return atom.literals[0]
    return None


def solve_lists(by_kind: ByKind) -> Mapping[str, tuple[Value, ...]] | None:
    """Return items for every collection; None when the atoms cannot all be true."""
    by_name: dict[str, list[Contains | Within]] = {}
    for kind in (Contains, Within):
        for atom in by_kind.get(kind, ()):
            by_name.setdefault(atom.name, []).append(atom)
    found: dict[str, tuple[Value, ...]] = {}
    for name, members in by_name.items():
        items = find_items(members)
        if items is None:
            return None
        found[name] = items
    return found


def find_string(atoms: Sequence[Text | OneOf]) -> str | None:
    """Return a string that meets every atom; None when there is none.

    Atoms may come from several slots that are equal.
    """
    candidates = _list_candidates(atoms)
    for candidate in candidates:
        if all(_meets(candidate, atom) for atom in atoms):
            return candidate
    if _is_bounded(atoms):
        return None
    return candidates[0] if candidates else _FREE


def _is_bounded(atoms: Sequence[Text | OneOf]) -> bool:
    """Return whether the candidates are all there is; words leave endlessly many strings."""
    for atom in atoms:
        if isinstance(atom, OneOf) and atom.match is not Match.WORD:
            return True
        if isinstance(atom, Text) and atom.positive and atom.match is not Match.WORD:
            return True
    wanted = [a.literal for a in atoms if isinstance(a, Text) and a.positive]
    barred = [
        a.literal for a in atoms if isinstance(a, Text) and not a.positive and a.match is Match.WORD
    ]
    return any(contains_words(text, word) is True for text in wanted for word in barred)


def _list_candidates(atoms: Sequence[Text | OneOf]) -> tuple[str, ...]:
    lists: list[tuple[int, tuple[str, ...]]] = []
    for atom in atoms:
        if isinstance(atom, OneOf):
            rank = 0 if atom.match is Match.EXACT else 1
            lists.append((rank, atom.literals if rank == 0 else _vary(atom.literals)))
        elif atom.positive:
            rank = 0 if atom.match is Match.EXACT else 1
            literals = (atom.literal,)
            lists.append((rank, literals if rank == 0 else _vary(literals)))
    if not lists:
        return tuple(f"{_FREE} {n}" if n else _FREE for n in range(_FREE_TRIES))
    # An exact list is complete, a folded one is so up to variants; words go last.
    ranked = sorted(range(len(lists)), key=lambda at: (lists[at][0], len(lists[at][1]), at))
    return lists[ranked[0]][1]


def _vary(literals: tuple[str, ...]) -> tuple[str, ...]:
    return (*literals, *(literal + _VARIANT for literal in literals))


def _meets(candidate: str, atom: Text | OneOf) -> bool:
    if isinstance(atom, OneOf):
        return any(_match(candidate, literal, atom.match) is True for literal in atom.literals)
    return _match(candidate, atom.literal, atom.match) is atom.positive


def _match(text: str, literal: str, match: Match) -> bool | None:
    if match is Match.EXACT:
        return equal_exact(text, literal)
    if match is Match.FOLDED:
        return equal_folded(text, literal)
    return contains_words(text, literal)


def find_items(atoms: Sequence[Contains | Within]) -> tuple[Value, ...] | None:
    """Return the items of a collection that meets every atom; None when there is none.

    What is forbidden is forbidden for each item alone, so every wanted item is chosen alone.
    """
    chosen: list[Value] = []
    withins = [atom for atom in atoms if isinstance(atom, Within)]
    barred = [atom for atom in atoms if isinstance(atom, Contains) and not atom.positive]
    for atom in atoms:
        if isinstance(atom, Contains) and atom.positive:
            item = _find_item(atom, withins, barred)
            if item is None:
                return None
            chosen.append(item)
    return tuple(chosen)


def _find_item(wanted: Contains, withins: Sequence[Within], barred: Sequence[Contains]) -> Value:
    candidates: list[Value] = [wanted.literal]
    if isinstance(wanted.literal, str) and wanted.match is not Match.EXACT:
        candidates.append(wanted.literal + _VARIANT)
    for within in withins:
        candidates.extend(within.literals)
    for candidate in candidates:
        if (
            _may_equal(candidate, wanted.literal, wanted.match)
            and all(
                any(_may_equal(candidate, literal, within.match) for literal in within.literals)
                for within in withins
            )
            and all(_may_differ(candidate, atom.literal, atom.match) for atom in barred)
        ):
            return candidate
    return None


# A missing answer (another currency, a zone to come) may still become the one that is needed.
def _may_equal(item: Value, literal: Value, match: Match) -> bool:
    return judge_equal(item, literal, match, Setting(_SCOPE, None, [])) in {HOLDS, MISSING}


def _may_differ(item: Value, literal: Value, match: Match) -> bool:
    return judge_equal(item, literal, match, Setting(_SCOPE, None, [])) in {FAILS, MISSING}
