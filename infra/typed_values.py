"""Texts, whole numbers and typed values from outside, in what a record can hold.

JSON escapes can spell half of a character pair, and JSON numbers have no end; neither has bytes in
a record. Every door that reads JSON asks here, so that such input is named where it came in.
"""

import json
import re
from typing import Any, Final, NoReturn

from schemas.value import Value
from schemas.value_json import ValueFormatError, from_json, unique_pairs

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d\S*", re.ASCII)


def parse_document(text: str) -> Any:
    """Return the plain structure of a JSON text.

    Raises:
        ValueFormatError: no JSON, NaN or Infinity, a name twice, too deep, an endless number.

    """
    try:
        return json.loads(text, object_pairs_hook=unique_pairs, parse_constant=_refuse)
    except RecursionError:
        raise ValueFormatError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueFormatError(f"not JSON at character {error.pos}: {error.msg}") from None
    except ValueFormatError:
        raise
    except ValueError:
        raise ValueFormatError("a whole number with thousands of digits") from None


def _refuse(token: str) -> NoReturn:
    raise ValueFormatError(f"{token} is no JSON number")


def check_moment(data: Any) -> str:
    """Return the text of a date and a time; a bare number would be a guess at its unit.

    Raises:
        ValueFormatError: it is another thing; the message shows the form.

    """
    if not isinstance(data, str) or not _MOMENT.fullmatch(data):
        raise ValueFormatError("no time with an offset; write 2026-03-01T18:00:00+01:00")
    return data


def check_text(text: str) -> str:
    """Return a text that has a UTF-8 form.

    Raises:
        ValueFormatError: it holds a lone surrogate; its position in characters is named.

    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueFormatError(
            f"half a character (lone surrogate U+{ord(text[error.start]):04X}) at position "
            f"{error.start}; send whole characters"
        ) from None
    return text


def read_value(data: Any, place: str = "value") -> Value:
    """Return the value of a plain JSON structure, as ``schemas.value_json.from_json``.

    Raises:
        ValueFormatError: naming the place, what is wrong and the form that is right.

    """
    value = from_json(data, place)
    _check_texts(data, place)
    return value


def parse_value(text: str) -> Value:
    """Return the value of a JSON text that a person or a program typed.

    Raises:
        ValueFormatError: naming what is wrong: no JSON, NaN, a fraction, a name twice, too deep.

    """
    return read_value(parse_document(text))


def _check_texts(data: Any, place: str) -> None:
    """Look at every text; the depth is bounded, as the value was read before."""
    if isinstance(data, str):
        try:
            check_text(data)
        except ValueFormatError as error:
            raise ValueFormatError(f"{place}: {error}") from None
    elif isinstance(data, dict):
        for name, item in data.items():
            _check_texts(name, f"{place} (a field name)")
            _check_texts(item, f"{place}.{name}")
    elif isinstance(data, list | tuple):
        for number, item in enumerate(data):
            _check_texts(item, f"{place}[{number}]")
