"""Records straight from Avro bytes: functions generated once from the annotations.

They take what a writer of ours writes and raise ``UnusualBytesError`` at all else, where the Avro
library says what the bytes are (``codec.decode``). What they take they read as the library does,
without its dictionaries in between, which cost more than all the rest of reading.
"""

import types
import typing
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from itertools import groupby
from typing import Any, Final

from schemas.record import branches, compile_building, hints, is_value
from schemas.value_avro import VALUE_BRANCHES, read_value

Read = Callable[[bytes, int], tuple[Any, int]]
"""From bytes and a place to what stands there and the place behind it."""

_SHIFTS: Final = tuple(range(7, 70, 7))  # A number of 64 bits has at most ten bytes.


class UnusualBytesError(Exception):
    """Bytes that are not as our writers write them."""


def read_number(b: bytes, i: int, n: int) -> tuple[int, int]:
    """Return the zigzag number whose first byte n stood before i, and the place behind it."""
    if n < 0x80:
        return n, i
    n &= 0x7F
    if b[i] < 0x80:
        return n | b[i] << 7, i + 1
    rest = int.from_bytes(b[i : i + 5], "little")
    if rest & 0x80_80_80_80_80 == 0x80_80_80_80:  # A time of our days in milliseconds.
        n |= (rest & 0x7F) << 7 | (rest >> 8 & 0x7F) << 14 | (rest >> 16 & 0x7F) << 21
        return n | (rest >> 24 & 0x7F) << 28 | rest >> 32 << 35, i + 5
    for shift in _SHIFTS:
        byte = b[i]
        i += 1
        if byte < 0x80:
            n |= byte << shift
            if n >> 64:
                break
            return n, i
        n |= (byte & 0x7F) << shift
    raise UnusualBytesError


def read_length(b: bytes, i: int, n: int) -> tuple[int, int]:
    """Return a length, still doubled, and the place behind it; what follows must have room."""
    n, i = read_number(b, i, n)
    if n & 1 or n >> 1 > len(b) - i:
        raise UnusualBytesError
    return n, i


@cache
def compile_reading(annotation: Any) -> Read:
    """Return the function that reads a record, or what any annotation of a field stands for."""
    if is_value(annotation):
        return _compile_value()
    if _is_union(annotation):
        return _compile_union(annotation)
    scope: dict[str, Any] = {
        "number": read_number,
        "length": read_length,
        "UnusualBytesError": UnusualBytesError,
    }
    if _is_record(annotation):
        scope["build"] = compile_building(annotation)
        names = [f"v{place}" for place in range(len(hints(annotation)))]
        fields = list(zip(names, hints(annotation).values(), strict=True))
        lines = []
        for absent, run in groupby(fields, lambda field: _may_be_absent(field[1])):
            lines += _list_run_lines(list(run), scope, absent=absent)
        result = f"build({', '.join(names)})"
    else:
        lines, result = _list_lines(annotation, "v", scope), "v"
    source = "\n ".join(["def read(b, i):", *lines, f"return {result}, i"])
    exec(source, scope)  # noqa: S102 - names and types of our own records only
    return typing.cast("Read", scope["read"])


def _is_union(annotation: Any) -> bool:
    some = [member for member in branches(annotation) if member is not type(None)]
    return len(some) > 1


def _is_record(annotation: Any) -> bool:
    return hasattr(annotation, "__dataclass_fields__")


def _may_be_absent(annotation: Any) -> bool:
    """Tell whether a zero byte stands for no value or no item."""
    if typing.get_origin(annotation) is tuple:
        return True
    return type(None) in branches(annotation) and not is_value(annotation)


def _list_run_lines(
    fields: list[tuple[str, Any]], scope: dict[str, Any], *, absent: bool
) -> list[str]:
    """Return the lines that read fields in a row; several that are all absent at one look."""
    each = [line for name, hint in fields for line in _list_lines(hint, name, scope)]
    if not absent or len(fields) == 1:
        return each
    empty = ["()" if typing.get_origin(hint) is tuple else "None" for _, hint in fields]
    return [
        f"if b[i:i + {len(fields)}] == {bytes(len(fields))!r}:",
        *(f" {name} = {nothing}" for (name, _), nothing in zip(fields, empty, strict=True)),
        f" i += {len(fields)}",
        "else:",
        *(f" {line}" for line in each),
    ]


_FIRST_BYTE: Final = ["n = b[i]", "i += 1"]


def _list_lines(annotation: Any, name: str, scope: dict[str, Any]) -> list[str]:
    """Return the lines that read one item at b[i] into a variable and move i behind it."""
    if annotation in {str, bytes}:
        taken = "b[i:j].decode()" if annotation is str else "b[i:j]"
        return [
            *_FIRST_BYTE,
            "if n & 0x81: n, i = length(b, i, n)",
            "j = i + (n >> 1)",
            f"{name} = {taken}",
            "i = j",
        ]
    if annotation is int:
        return [
            *_FIRST_BYTE,
            "if n > 0x7F: n, i = number(b, i, n)",
            f"{name} = (n >> 1) ^ -(n & 1)",
        ]
    if annotation is bool:
        return [*_FIRST_BYTE, "if n > 1: raise UnusualBytesError", f"{name} = n == 1"]
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        scope[f"members_{name}"] = tuple(annotation)
        return [
            *_FIRST_BYTE,
            "if n & 0x81: raise UnusualBytesError",
            f"{name} = members_{name}[n >> 1]",
        ]
    if typing.get_origin(annotation) is tuple:
        return _list_array_lines(typing.get_args(annotation)[0], name, scope)
    if type(None) in branches(annotation) and not _is_union(annotation):
        (some,) = (member for member in branches(annotation) if member is not type(None))
        inner = _list_lines(some, name, scope)
        return [
            *_FIRST_BYTE,
            f"if n == 0: {name} = None",
            "elif n == 2:",
            *(f" {line}" for line in inner),
            "else: raise UnusualBytesError",
        ]
    scope[f"read_{name}"] = compile_reading(annotation)
    return [f"{name}, i = read_{name}(b, i)"]


def _list_array_lines(item: Any, name: str, scope: dict[str, Any]) -> list[str]:
    """Return the lines that read an array of one block, or none, as our writers write it."""
    return [
        *_FIRST_BYTE,
        f"if n == 0: {name} = ()",
        "else:",
        " n, i = length(b, i, n)",
        f" {name}_items = []",
        " for _ in range(n >> 1):",
        *(f"  {line}" for line in _list_lines(item, f"{name}_item", scope)),
        f"  {name}_items.append({name}_item)",
        " if b[i]: raise UnusualBytesError",
        " i += 1",
        f" {name} = tuple({name}_items)",
    ]


def _compile_union(annotation: types.UnionType) -> Read:
    members = [member for member in branches(annotation) if member is not type(None)]
    optional = len(members) < len(branches(annotation))
    readers = {2 * (k + optional): compile_reading(member) for k, member in enumerate(members)}
    assert max(readers) < 0x80, "the place of a branch is one byte"
    if optional:
        readers[0] = lambda _, i: (None, i)

    def read(b: bytes, i: int) -> tuple[Any, int]:
        return readers[b[i]](b, i + 1)

    return read


@cache
def _compile_value() -> Read:
    """Return the reader of typed values; what is no native goes through ``read_value``."""
    readers: dict[int, Read] = {0: lambda _, i: (None, i)}
    natives = {"boolean": bool, "long": int, "string": str}
    for place, branch in enumerate(VALUE_BRANCHES):
        if isinstance(branch, dict):
            readers[2 * place] = _compile_composite(branch)
        elif branch != "null":
            readers[2 * place] = compile_reading(natives[branch])

    def read(b: bytes, i: int) -> tuple[Any, int]:
        return readers[b[i]](b, i + 1)

    return read


def _compile_composite(branch: dict[str, Any]) -> Read:
    kinds: dict[Any, Any] = {"string": str, "long": int}
    fields = [
        (field["name"], compile_reading(kinds.get(field["type"], tuple[str, ...])))
        if isinstance(field["type"], str)
        else (field["name"], _compile_strings())
        for field in branch["fields"]
    ]

    def read(b: bytes, i: int) -> tuple[Any, int]:
        datum = {}
        for name, read_field in fields:
            datum[name], i = read_field(b, i)
        return read_value((branch["name"], datum)), i

    return read


def _compile_strings() -> Read:
    read = compile_reading(tuple[str, ...])

    def read_list(b: bytes, i: int) -> tuple[Any, int]:
        items, i = read(b, i)
        return list(items), i  # As the library gives it.

    return read_list
