"""Summary: a running digest of the history within a third of the budget, then the newest lines.

The digest is extractive and deterministic: the opening words of each line, those lines first
whose words are the most frequent in the history. Rare things and exceptions get lost in it.
"""

from collections import Counter
from dataclasses import replace
from typing import Final

from infra.evaluation.shown import Line, Shown, take_within
from infra.evaluation.variants.variant import BUDGET, Material, Source, Variant, show_text

WORDS_KEPT: Final = 9
DIGEST_BUDGET: Final = BUDGET // 3
NEWEST: Final = 6


def show_summary(material: Material) -> Shown:
    """Show the digest of all but the newest lines, then those whole."""
    old, new = material.lines[:-NEWEST], material.lines[-NEWEST:]
    shortened = {line.key: _shorten(line) for line in old}
    counts = Counter(word for line in old for word in line.text.casefold().split())
    ranked = sorted(old, key=lambda line: (-_weigh(line, counts), line.key))
    kept = {line.key for line in take_within((shortened[one.key] for one in ranked), DIGEST_BUDGET)}
    digest = tuple(shortened[line.key] for line in old if line.key in kept)
    return show_text(material, digest + take_within(new, BUDGET - DIGEST_BUDGET))


def _weigh(line: Line, counts: Counter[str]) -> int:
    words = line.text.casefold().split()
    return sum(counts[word] for word in words) // len(words)


def _shorten(line: Line) -> Line:
    words = line.text.split()
    if len(words) <= WORDS_KEPT:
        return line
    rule = None if line.rule is None else replace(line.rule, unless=None)
    text = " ".join(words[:WORDS_KEPT])
    return replace(line, text=text, rule=rule, offer=None if line.offer else line.offer)


VARIANT: Final = Variant(name="summary", log="summary", source=Source.ANSWER, show=show_summary)
