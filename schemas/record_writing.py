"""Records straight to Avro bytes: functions generated once from the annotations.

They check each type and raise ``TypeError`` or ``ValueError`` at what a record may not hold;
``codec.encode`` then lets ``record.compile_writer`` name the field. The bytes are those of the
Avro library.
"""

import typing
from collections.abc import Callable
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, Final

from schemas.record import branches, hints, is_value
from schemas.value import INT64_MAX, INT64_MIN
from schemas.value_avro import VALUE_BRANCHES, write_value

Write = Callable[[Any], bytes]

_SHORT: Final = 64  # Below it a length is one byte.
_SHORT_LENGTHS: Final = tuple(bytes((2 * length,)) for length in range(_SHORT))


@lru_cache(maxsize=4_096)
def encode_long(number: int) -> bytes:
    """Return a 64-bit number as Avro does: zigzag, seven bits a byte, low ones first.

    Raises:
        ValueError: it has more bits.

    """
    if not INT64_MIN <= number <= INT64_MAX:
        raise ValueError(number)
    rest = (number << 1) ^ (number >> 63)
    if rest < 0x80:
        return bytes((rest,))
    if rest < 0x4000:
        return bytes((rest & 0x7F | 0x80, rest >> 7))
    if 1 << 35 <= rest < 1 << 42:  # A time of our days in milliseconds.
        return bytes(
            (rest & 0x7F | 0x80, rest >> 7 & 0x7F | 0x80, rest >> 14 & 0x7F | 0x80,
             rest >> 21 & 0x7F | 0x80, rest >> 28 & 0x7F | 0x80, rest >> 35)
        )  # fmt: skip
    parts = bytearray()
    while rest > 0x7F:
        parts.append((rest & 0x7F) | 0x80)
        rest >>= 7
    parts.append(rest)
    return bytes(parts)


@cache
def compile_writing(annotation: Any) -> Write:
    """Return the function that writes a record, or what any annotation of a field stands for."""
    if is_value(annotation):
        return _compile_value()
    scope: dict[str, Any] = {"long": encode_long, "short": _SHORT_LENGTHS}
    if hasattr(annotation, "__dataclass_fields__"):
        scope["cls"] = annotation
        lines = ["if type(v) is not cls: raise TypeError"]
        parts = []
        for place, (name, hint) in enumerate(hints(annotation).items()):
            lines.append(f"v{place} = v.{name}")
            more, part = _list_lines(hint, f"v{place}", scope)
            lines += more
            parts.append(part)
        result = f"b''.join(({', '.join(parts)},))"
    else:
        lines, result = _list_lines(annotation, "v", scope)
        result = f"b''.join(({result},))"
    source = "\n ".join(["def write(v):", *lines, f"return {result}"])
    exec(source, scope)  # noqa: S102 - names and types of our own records only
    return typing.cast("Write", scope["write"])


def _list_lines(annotation: Any, name: str, scope: dict[str, Any]) -> tuple[list[str], str]:
    """Return lines that check a variable, and the expressions of its bytes, comma-separated."""
    if annotation in {str, bytes}:
        data = f"{name}_data" if annotation is str else name
        lines = [
            f"if type({name}) is not {annotation.__name__}: raise TypeError",
            *([f"{data} = {name}.encode()"] if annotation is str else []),
            f"n = len({data})",
            f"{name}_length = short[n] if n < {_SHORT} else long(n)",
        ]
        return lines, f"{name}_length, {data}"
    if annotation is int:
        return [f"if type({name}) is not int: raise TypeError"], f"long({name})"
    if annotation is bool:
        check = f"if type({name}) is not bool: raise TypeError"
        return [check], f"b'\\1' if {name} else b'\\0'"
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        scope[f"enum_{name}"] = annotation
        scope[f"places_{name}"] = {m: encode_long(k) for k, m in enumerate(annotation)}
        check = f"if type({name}) is not enum_{name}: raise TypeError"
        return [check], f"places_{name}[{name}]"
    scope[f"write_{name}"] = _compile_part(annotation)
    return [], f"write_{name}({name})"


def _compile_part(annotation: Any) -> Write:
    if typing.get_origin(annotation) is tuple:
        return _compile_array(typing.get_args(annotation)[0])
    if branches(annotation) and not is_value(annotation):
        return _compile_union(annotation)
    return compile_writing(annotation)


def _compile_array(item: Any) -> Write:
    if item in {str, bytes}:
        return _compile_texts(item)
    write_item = compile_writing(item)

    def write(items: Any) -> bytes:
        if not items:
            return b"\0"
        return b"".join((encode_long(len(items)), *map(write_item, items), b"\0"))

    return write


def _compile_texts(kind: type) -> Write:
    only = {kind}

    def write(items: Any) -> bytes:
        if not items:
            return b"\0"
        if set(map(type, items)) != only:
            raise TypeError
        found = list(map(str.encode, items)) if kind is str else items
        try:
            parts = [_SHORT_LENGTHS[len(data)] + data for data in found]
        except IndexError:
            parts = [encode_long(len(data)) + data for data in found]
        return b"".join((encode_long(len(items)), *parts, b"\0"))

    return write


def _compile_union(annotation: Any) -> Write:
    members = [member for member in branches(annotation) if member is not type(None)]
    optional = len(members) < len(branches(annotation))
    writers = {
        member: (encode_long(k + optional), compile_writing(member))
        for k, member in enumerate(members)
    }

    def write(value: Any) -> bytes:
        if value is None and optional:
            return b"\0"
        branch = writers.get(type(value))
        if branch is None:
            raise TypeError
        return branch[0] + branch[1](value)

    return write


@cache
def _compile_value() -> Write:
    """Return the writer of typed values; what is no native goes through ``write_value``."""
    natives: dict[type, Any] = {str: "string", int: "long", bool: "boolean"}
    own = {
        kind: (encode_long(VALUE_BRANCHES.index(name)), compile_writing(kind))
        for kind, name in natives.items()
    }
    others = {
        branch["name"]: (encode_long(place), _compile_composite(branch))
        for place, branch in enumerate(VALUE_BRANCHES)
        if isinstance(branch, dict)
    }

    def write(value: Any) -> bytes:
        if value is None:
            return b"\0"
        prefix, write_native = own.get(type(value), (b"", None))
        if write_native is not None:
            return prefix + write_native(value)
        name, datum = write_value(value)
        prefix, write_other = others[name]
        return prefix + write_other(datum)

    return write


def _compile_composite(branch: dict[str, Any]) -> Write:
    kinds: dict[Any, Any] = {"string": str, "long": int}
    fields = [
        (field["name"], compile_writing(kinds[field["type"]]))
        if isinstance(field["type"], str)
        else (field["name"], _compile_array(str))
        for field in branch["fields"]
    ]

    def write(datum: dict[str, Any]) -> bytes:
        return b"".join([write_field(datum[name]) for name, write_field in fields])

    return write
