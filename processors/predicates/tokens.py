"""Tokens of the text form: a single pass over the characters, no regular expression.

Here the spelling of names, numbers and strings is decided, and the error that carries a
position and a remedy is defined. Grammar is ``text``.
"""

import unicodedata
from typing import Final, NamedTuple, NoReturn

from processors.limits import (
    EXPRESSION_STRING_MAX,
    EXPRESSION_TEXT_MAX,
    EXPRESSION_TOKENS_MAX,
)

_DIGITS: Final = frozenset("0123456789")
_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME_CHARACTERS: Final = _LETTERS | _DIGITS
_SYMBOLS: Final = (
    "==",
    "!=",
    "<=",
    ">=",
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    ".",
    "+",
    "-",
    "*",
)
_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")
_NUMBER_DIGITS_MAX: Final = 38


class PredicateTextError(ValueError):
    """A text that is no predicate: the position, what is wrong there, and the remedy."""

    def __init__(self, position: int, detail: str, remedy: str) -> None:
        """Keep the three parts; ``position`` counts characters from 0."""
        super().__init__(f"at character {position}: {detail}; {remedy}")
        self.position = position
        self.detail = detail
        self.remedy = remedy


class Token(NamedTuple):
    """One token; ``kind`` is name, string, integer, decimal, symbol or end."""

    kind: str
    text: str
    position: int


def refuse(position: int, detail: str, remedy: str) -> NoReturn:
    """Raise the error of this position."""
    raise PredicateTextError(position, detail, remedy)


def split_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, an end token last.

    Raises:
        PredicateTextError: an unknown character, an unfinished string or a number misspelt.

    """
    if len(text) > EXPRESSION_TEXT_MAX:
        refuse(
            EXPRESSION_TEXT_MAX,
            f"longer than {EXPRESSION_TEXT_MAX} characters",
            "split it into several predicates",
        )
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character in " \t\r\n":
            at += 1
            continue
        token, at = _take_token(text, at)
        tokens.append(token)
        if len(tokens) > EXPRESSION_TOKENS_MAX:
            refuse(token.position, f"more than {EXPRESSION_TOKENS_MAX} tokens", "split it")
    tokens.append(Token("end", "", len(text)))
    return tuple(tokens)


def is_name(text: str) -> bool:
    """Return whether a field name can stand in a path without quotes."""
    return text[:1] in _LETTERS and text != "" and _NAME_CHARACTERS.issuperset(text)


def _take_token(text: str, at: int) -> tuple[Token, int]:
    character = text[at]
    if character in _LETTERS:
        end = _find_end(text, at, _NAME_CHARACTERS)
        if end - at > EXPRESSION_STRING_MAX:
            refuse(at, f"a name longer than {EXPRESSION_STRING_MAX} characters", "shorten it")
        return Token("name", text[at:end], at), end
    if character in _DIGITS:
        return _take_number(text, at)
    if character == '"':
        return _take_string(text, at)
    for symbol in _SYMBOLS:
        if text.startswith(symbol, at):
            return Token("symbol", symbol, at), at + len(symbol)
    if character == "'":
        refuse(at, "a single quote", 'write strings in double quotes: "phone"')
    if character == "=":
        refuse(at, "a single =", "write == to compare")
    if character in "&|!":
        refuse(at, f"the sign {character}", "write and, or, not")
    refuse(at, f"the character {character!r} means nothing here", "put text into double quotes")


def _find_end(text: str, at: int, allowed: frozenset[str]) -> int:
    end = at
    while end < len(text) and text[end] in allowed:
        end += 1
    return end


def _take_number(text: str, at: int) -> tuple[Token, int]:
    end = _find_end(text, at, _DIGITS)
    kind = "integer"
    if end - at > 1 and text[at] == "0":
        refuse(at, "a number with a leading zero", "write it without the zero, or as a string")
    if text[end : end + 1] == "." and text[end + 1 : end + 2] in _DIGITS:
        kind = "decimal"
        end = _find_end(text, end + 1, _DIGITS)
    if text[end : end + 1] in _LETTERS and text[end : end + 1] != "":
        refuse(end, "a letter in a number", "write plain digits: 1000, not 1e3; units as money()")
    if end - at - (kind == "decimal") > _NUMBER_DIGITS_MAX:
        refuse(at, f"more than {_NUMBER_DIGITS_MAX} digits", "no amount needs more; shorten it")
    return Token(kind, text[at:end], at), end


def _take_string(text: str, at: int) -> tuple[Token, int]:
    parts: list[str] = []
    end = at + 1
    while True:
        character = text[end : end + 1]
        if character == "":
            refuse(at, "a string without end", 'close it with "')
        if character == '"':
            break
        if character == "\\":
            part, end = _take_escape(text, end)
            parts.append(part)
            continue
        if character < " ":
            refuse(end, "a control character in a string", "write it as an escape such as \\n")
        parts.append(character)
        end += 1
    return Token("string", _join_string(parts, at), at), end + 1


def _join_string(parts: list[str], at: int) -> str:
    joined = "".join(parts)
    # Two escapes may stand for one character beyond 16 bit; a lone half is no character.
    try:
        joined = joined.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        refuse(at, "half of a surrogate pair in a string", "write the whole character")
    joined = unicodedata.normalize("NFC", joined)
    if len(joined) > EXPRESSION_STRING_MAX:
        refuse(at, f"a string longer than {EXPRESSION_STRING_MAX} characters", "shorten it")
    return joined


def _take_escape(text: str, at: int) -> tuple[str, int]:
    letter = text[at + 1 : at + 2]
    if letter in _ESCAPES and letter != "":
        return _ESCAPES[letter], at + 2
    digits = text[at + 2 : at + 6]
    if letter == "u" and len(digits) == 4 and _HEXADECIMAL.issuperset(digits):
        return chr(int(digits, 16)), at + 6
    refuse(at, "an unknown escape", 'write \\" \\\\ \\n \\t or \\u and four digits')
