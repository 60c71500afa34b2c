"""When two strings are the same: exact, folded or by whole words (spec 2.5).

Every function is total and pure. The Unicode tables are the interpreter's own. No expression
and no verdict is known here.
"""

import unicodedata
from functools import lru_cache
from typing import Final

from processors.limits import FOLDED_MAX

_SPACES: Final = frozenset("\t\n\r")
_UNKNOWN_CATEGORIES: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
_JAPANESE: Final = frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"})
_KOREAN: Final = frozenset({"LATIN", "HAN", "HANGUL"})
_CHINESE: Final = frozenset({"LATIN", "HAN", "BOPOMOFO"})
# Default-ignorable characters that are marks or letters: selectors, fillers and joiners.
_IGNORED_RANGES: Final = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF),
)  # fmt: skip
_IGNORED: Final = frozenset(
    chr(code) for first, last in _IGNORED_RANGES for code in range(first, last + 1)
)
_UNSPACED: Final = frozenset(
    {"HAN", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"}
)


def equal_exact(left: str, right: str) -> bool:
    """Return whether both have the same composed form (NFC)."""
    if left == right:
        return True
    if left.isascii() and right.isascii():
        return False
    return unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right)


@lru_cache(maxsize=FOLDED_MAX)
def fold(text: str) -> str | None:
    """Return the folded form: NFKC, case folded, format and ignorable characters removed.

    None means unknown characters: unassigned, private, control or replacement characters, a
    word that mixes scripts as look-alikes do, or a text of which nothing is left.
    """
    folded = text.casefold()
    if not text.isascii():
        folded = unicodedata.normalize("NFKC", _drop_format(text)).casefold()
        folded = unicodedata.normalize("NFKC", _drop_format(folded))
    if text and not folded:
        return None
    if any(_is_unknown(character) for character in folded):
        return None
    if not folded.isascii() and _mixes_scripts(folded):
        return None
    return folded


@lru_cache(maxsize=FOLDED_MAX)
def split_words(text: str) -> tuple[str, ...] | None:
    """Return the whole tokens of the folded form; None means unknown characters.

    A token is a run of letters, marks and digits. A symbol is a token of its own, and so is
    each character of a script that is written without spaces: there a word is a sequence of
    tokens, and a longer compound still contains it.
    """
    folded = fold(text)
    if folded is None:
        return None
    tokens: list[str] = []
    run = ""
    for character in folded:
        group = unicodedata.category(character)[0]
        if group in "LNM" and _find_script(character) not in _UNSPACED:
            run += character
            continue
        if run:
            tokens.append(run)
            run = ""
        if group in "LNMS":
            tokens.append(character)
    if run:
        tokens.append(run)
    return tuple(tokens)


@lru_cache(maxsize=FOLDED_MAX)
def equal_folded(left: str, right: str) -> bool | None:
    """Return whether the folded forms are equal; None means unknown characters."""
    first, second = fold(left), fold(right)
    return None if first is None or second is None else first == second


@lru_cache(maxsize=FOLDED_MAX)
def contains_words(text: str, wanted: str) -> bool | None:
    """Return whether the tokens of ``wanted`` stand in ``text`` in a row; None when unknown."""
    tokens, pattern = split_words(text), split_words(wanted)
    if tokens is None or not pattern:
        return None
    width = len(pattern)
    return any(tokens[at : at + width] == pattern for at in range(len(tokens) - width + 1))


def _drop_format(text: str) -> str:
    return "".join(c for c in text if unicodedata.category(c) != "Cf" and c not in _IGNORED)


def _is_unknown(character: str) -> bool:
    if " " <= character <= "~" or character in _SPACES:
        return False
    return character == "\ufffd" or unicodedata.category(character) in _UNKNOWN_CATEGORIES


def _mixes_scripts(folded: str) -> bool:
    scripts: set[str] = set()
    for character in folded:
        group = unicodedata.category(character)[0]
        if group == "L":
            script = _find_script(character)
            if script:
                scripts.add(script)
                if len(scripts) > 1 and not _may_mix(scripts):
                    return True
        elif group not in "MN":
            scripts.clear()
    return False


def _may_mix(scripts: set[str]) -> bool:
    return scripts <= _JAPANESE or scripts <= _KOREAN or scripts <= _CHINESE


@lru_cache(maxsize=FOLDED_MAX)
def _find_script(character: str) -> str:
    """Return the script of a letter; "" for letters that every script shares."""
    if character <= "z" and character.isascii():
        return "LATIN" if character.isalpha() else ""
    first = unicodedata.name(character, "").partition(" ")[0]
    if first.startswith("CJK") or first == "IDEOGRAPHIC":
        return "HAN"
    if first in {"MODIFIER", "KATAKANA-HIRAGANA", "COMBINING", "MASCULINE", "FEMININE"}:
        return ""
    return first
