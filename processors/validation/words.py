"""Texts as rows of words, so that "occurs in" means whole words and never part of one.

Used where leaks are sought (``leakage``) and where a surface is checked (``surface``).
"""

from collections.abc import Iterable
from typing import Final

from processors.predicates.strings import split_words

Words = tuple[str, ...]

_BOUNDARY: Final = ""
"""Stands between texts, so that no value is found across two of them."""


def read_words(text: str) -> Words:
    """Return the folded words of a text; characters that cannot be folded stand for themselves."""
    words = split_words(text)
    return tuple(text.casefold().split()) if words is None else words


def join_words(texts: Iterable[str]) -> Words:
    """Return the words of several texts in a row, with boundaries between them."""
    return tuple(word for text in texts for word in (*read_words(text), _BOUNDARY))


def occurs(wanted: Words, words: Words) -> bool:
    """Return whether the wanted words stand in a row; of nothing, nothing occurs."""
    if not wanted:
        return False
    width, first = len(wanted), wanted[0]
    return any(
        words[at] == first and words[at : at + width] == wanted
        for at in range(len(words) - width + 1)
    )
