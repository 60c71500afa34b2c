"""The one JSON object of a model's text: found, decoded strictly, never repaired (spec 5.12).

Prose, fences and finished thinking around the object are ignored. What is broken raises, and
nothing is closed, completed or picked on the model's behalf. What the object means is ``answer``.
"""

import json
import re
from typing import Any, Final, NoReturn

from schemas.value import INT64_MAX, INT64_MIN, VALUE_DEPTH_MAX

ANSWER_BYTES_MAX: Final = 65_536  # Several times 2,200 tokens; with its reading, one event.
DEPTH_MAX: Final = VALUE_DEPTH_MAX + 4  # The answer, its list, a candidate and its slots.
SHOWN_MAX: Final = 80

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_MARK: Final = re.compile(r"[{}\[\]]|</?think>")
# Braces and brackets that prose may hold: a word in braces, a footnote, a list of ids.
_PROSE: Final = re.compile(r"\{[^{}\[\]\"':]*\}|\[[^{}\[\]\"']*\]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class AnswerFormError(ValueError):
    """A text is no answer; the message names the place and what is wrong there."""


class _Pairs(list[tuple[str, Any]]):
    """An object as it stands in the text, before duplicate names are looked for."""


class _Token(str):
    """A number that has no exact 64-bit value: a fraction, NaN, or too many digits."""

    __slots__ = ()


def find_object(text: str) -> dict[str, Any]:
    """Return the only JSON object of a text.

    Raises:
        AnswerFormError: none, a second one, an open think block, a bracket that belongs to
            neither prose nor object, or an object that is not strict JSON.

    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > ANSWER_BYTES_MAX:
        raise AnswerFormError(f"{size} bytes; at most {ANSWER_BYTES_MAX}")
    found, trouble = _scan(text)
    if trouble:
        raise AnswerFormError(trouble)
    if not found:
        raise AnswerFormError("no JSON object, only text: a refusal or an explanation")
    if len(found) > 1:
        raise AnswerFormError("a second JSON object; give one, or one with a list of candidates")
    data = _settle(found[0], "answer", 0)
    assert isinstance(data, dict), "what was found begins with a brace"
    return data


def _scan(text: str) -> tuple[list[Any], str]:
    """Return the objects behind the last finished thinking, and the first trouble there."""
    found: list[Any] = []
    trouble = ""
    at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[0] == _CLOSE:
            found, trouble = [], ""
        elif mark[0] == _OPEN:
            at = text.find(_CLOSE, at)
            if at < 0:
                raise AnswerFormError(f"an open think block at character {mark.start()}")
        elif not trouble:
            start = mark.start()
            try:
                data, at = _read_at(text, start)
                found.append(data)
            except AnswerFormError as error:
                group = _PROSE.match(text, start)
                trouble = "" if group else str(error)
                at = group.end() if group else at
    return found, trouble


def _read_at(text: str, start: int) -> tuple[Any, int]:
    if text[start] != "{":
        raise AnswerFormError(f"a loose {text[start]} at character {start}, outside the object")
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise AnswerFormError(f"nested deeper than {DEPTH_MAX}") from None
    except json.JSONDecodeError as error:
        raise AnswerFormError(f"not JSON at character {error.pos}: {error.msg}") from None


def _settle(data: Any, place: str, depth: int) -> Any:
    """Return plain dicts and lists; a duplicate name and an inexact number are refused."""
    if depth > DEPTH_MAX:
        raise AnswerFormError(f"{place[:SHOWN_MAX]}: nested deeper than {DEPTH_MAX}")
    if isinstance(data, _Token):
        raise AnswerFormError(
            f"{place[:SHOWN_MAX]}: {data[:SHOWN_MAX]} is no exact number; write it as a text"
        )
    if isinstance(data, str):
        _check_text(data, place)
    if isinstance(data, _Pairs):
        settled: dict[str, Any] = {}
        for name, item in data:
            _check_text(name, place)
            within = name if place == "answer" else f"{place}.{name}"
            if name in settled:
                raise AnswerFormError(f"duplicate_key {within[:SHOWN_MAX]}")
            settled[name] = _settle(item, within, depth + 1)
        return settled
    if isinstance(data, list):
        return [_settle(item, f"{place}[{n}]", depth + 1) for n, item in enumerate(data)]
    return data


def _check_text(text: str, place: str) -> None:
    if _SURROGATE.search(text):
        raise AnswerFormError(f"{place[:SHOWN_MAX]}: half a character (a lone surrogate)")


def _read_whole(digits: str) -> int | _Token:
    if len(digits) > 20 or not INT64_MIN <= int(digits) <= INT64_MAX:
        return _Token(digits)
    return int(digits)


def refuse(place: str, reason: str) -> NoReturn:
    """Refuse what stands at a place, in the one form of message."""
    raise AnswerFormError(f"{place[:SHOWN_MAX]}: {reason}")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_float=_Token, parse_int=_read_whole, parse_constant=_Token
)
