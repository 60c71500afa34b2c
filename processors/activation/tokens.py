"""The tokens that relevance compares: folded words, and bigrams where no spaces are written.

Here lives what a token is (spec 4.3). Folding for predicates, which refuses unknown
characters, stays in processors.predicates.strings: retrieval takes any text.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final

from processors.limits import TOKEN_CACHE_MAX

_CJK: Final = (
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x323AF),  # Han, extensions B to H
)

_ASCII_GAPS: Final = {point: " " for point in range(128) if not chr(point).isalnum()}


def fold_text(text: str) -> str:
    """Fold: NFKC, case fold, format characters (Cf) removed; folding twice changes nothing."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", _drop_format(text)).casefold()
    return unicodedata.normalize("NFKC", _drop_format(folded))


@lru_cache(maxsize=TOKEN_CACHE_MAX)
def split_tokens(text: str) -> tuple[str, ...]:
    """Split a text into its tokens, in order, repeats kept.

    A token is a longest run of letters, marks and digits (categories L, M, N) of the folded
    text. A run of Han, Kana or Hangul inside it gives its overlapping bigrams instead, or
    itself when it is one character long.
    """
    folded = fold_text(text)
    if folded.isascii():
        return tuple(folded.translate(_ASCII_GAPS).split())
    tokens: list[str] = []
    run = ""
    dense = False
    for character in folded:
        kept = unicodedata.category(character)[0] in "LMN"
        here = kept and _is_cjk(character)
        if run and (not kept or (here != dense and not unicodedata.combining(character))):
            tokens.extend(_cut(run, dense))
            run = ""
        if kept:
            dense = here if not run else dense
            run += character
    if run:
        tokens.extend(_cut(run, dense))
    return tuple(tokens)


def _cut(run: str, dense: bool) -> list[str]:  # noqa: FBT001 - which of two kinds of run
    if not dense or len(run) == 1:
        return [run]
    return [left + right for left, right in pairwise(run)]


def _is_cjk(character: str) -> bool:
    point = ord(character)
    return point >= _CJK[0][0] and any(first <= point <= last for first, last in _CJK)


def _drop_format(text: str) -> str:
    return "".join([c for c in text if unicodedata.category(c) != "Cf"])
