"""Records and their Avro form: schemas derived from annotations, conversions compiled once.

A record is a frozen, slotted dataclass. ``describe`` gives its Avro schema; ``compile_writer``
and ``compile_reader`` give the functions between a record and the structure that the Avro
libraries take, with every union branch named and every type checked. No Avro schema refers to
itself: the Avro library follows nesting on the C stack, so a recursive schema would let a few
thousand hostile bytes end the process (lists and records inside values are JSON text instead).
"""

import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from schemas.value import INT64_MAX, INT64_MIN, RecordValue
from schemas.value_avro import (
    NAMESPACE,
    VALUE_BRANCHES,
    Convert,
    RecordError,
    check_long,
    read_value,
    write_value,
)

__all__ = [
    "Embodied",
    "RecordError",
    "compile_building",
    "compile_reader",
    "compile_writer",
    "describe",
    "hints",
]

R = typing.TypeVar("R")
Schema = dict[str, Any] | list[Any] | str


class Embodied:
    """Gives a record a place for its Avro body, so that it is encoded once.

    That is no part of the record: neither encoded, compared nor shown.
    """

    __slots__ = ("body",)

    body: bytes


def _check_type(kind: type) -> Convert:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise RecordError(f"{value!r:.40} is no {kind.__name__}")
        return value

    return check


def branches(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union annotation, or the annotation alone."""
    origin = typing.get_origin(annotation)
    return typing.get_args(annotation) if origin in {types.UnionType, typing.Union} else ()


def is_value(annotation: Any) -> bool:
    """Tell whether an annotation is the union of typed values."""
    return RecordValue in branches(annotation)


def hints(cls: type) -> dict[str, Any]:
    """Return the field annotations of a record class, in field order."""
    resolved = typing.get_type_hints(cls)
    return {field.name: resolved[field.name] for field in fields(cls)}


def describe(cls: type) -> dict[str, Any]:
    """Return the Avro schema of a record class; each named type is spelled out once."""
    schema = _describe(cls, set())
    assert isinstance(schema, dict)
    return schema


def _describe(annotation: Any, seen: set[str]) -> Schema:
    primitives: dict[Any, Schema] = {str: "string", int: "long", bool: "boolean", bytes: "bytes"}
    if annotation in primitives:
        return primitives[annotation]
    if is_value(annotation):
        return [_describe_named(branch, seen) for branch in VALUE_BRANCHES]
    if members := branches(annotation):
        some = [member for member in members if member is not type(None)]
        head: list[Schema] = ["null"] if len(some) < len(members) else []
        return head + [_describe(member, seen) for member in some]
    if typing.get_origin(annotation) is tuple:
        return {"type": "array", "items": _describe(typing.get_args(annotation)[0], seen)}
    name = f"{NAMESPACE}.{annotation.__name__}"
    if name in seen:
        return name
    seen.add(name)
    if issubclass(annotation, StrEnum):
        return _describe_enum(annotation, name)
    return {
        "type": "record",
        "name": name,
        "doc": " ".join((annotation.__doc__ or "").split()),
        "fields": [
            {"name": field, "type": _describe(hint, seen)}
            | ({"default": None} if type(None) in branches(hint) or is_value(hint) else {})
            for field, hint in hints(annotation).items()
        ],
    }


def _describe_named(branch: Any, seen: set[str]) -> Schema:
    if isinstance(branch, dict):
        if branch["name"] in seen:
            return str(branch["name"])
        seen.add(branch["name"])
    return branch  # type: ignore[no-any-return]


def _describe_enum(cls: type[StrEnum], name: str) -> Schema:
    symbols = [member.value for member in cls]
    schema: dict[str, Any] = {"type": "enum", "name": name, "symbols": symbols}
    # Only a symbol without effect may stand in for one that an old reader does not know.
    return schema | ({"default": "unknown"} if "unknown" in symbols else {})


@cache
def compile_writer(annotation: Any) -> Convert:
    """Return the function from a record (or field) to its Avro structure; types are checked."""
    if is_value(annotation):
        return write_value
    if annotation is int:
        return check_long
    if annotation in {str, bool, bytes}:
        return _check_type(annotation)
    if members := branches(annotation):
        return _write_union(tuple(m for m in members if m is not type(None)))
    if typing.get_origin(annotation) is tuple:
        write_item = compile_writer(typing.get_args(annotation)[0])
        return lambda items: [write_item(item) for item in items]
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return _check_type(annotation)
    assert is_dataclass(annotation), annotation
    return _write_record(annotation)


def _write_union(members: tuple[Any, ...]) -> Convert:
    primitive = {str: "string", int: "long", bool: "boolean", bytes: "bytes"}
    named = {m: primitive.get(m) or f"{NAMESPACE}.{m.__name__}" for m in members}
    writers = {member: (named[member], compile_writer(member)) for member in members}

    def write(value: Any) -> Any:
        if value is None:
            return None
        branch = writers.get(type(value))
        if branch is None:
            raise RecordError(f"{type(value).__name__} is none of {sorted(named.values())}")
        return (branch[0], branch[1](value))

    return write


_INLINE_CHECKS = {
    str: "type({v}) is str",
    bytes: "type({v}) is bytes",
    bool: "type({v}) is bool",
    int: f"type({{v}}) is int and {INT64_MIN} <= {{v}} <= {INT64_MAX}",
}


def _write_record(cls: Any) -> Convert:
    """Generate the structure of a record: primitive fields are checked in place, without a call."""
    writers = [(name, compile_writer(hint)) for name, hint in hints(cls).items()]
    scope: dict[str, Any] = {"cls": cls, "refuse": lambda r: _find_field(r, writers, cls.__name__)}
    lines, pairs, checks = [], [], []
    for place, (name, hint) in enumerate(hints(cls).items()):
        check = _INLINE_CHECKS.get(hint)
        if check is not None:
            lines.append(f"    v{place} = r.{name}")
            checks.append(f"({check.format(v=f'v{place}')})")
            pairs.append(f"{name!r}: v{place}")
        else:
            scope[f"w{place}"] = compile_writer(hint)
            pairs.append(f"{name!r}: w{place}(r.{name})")
    condition = " and ".join(checks) or "True"
    source = f"""
def write(r):
  if type(r) is not cls: raise RecordError(type(r).__name__ + ' is no ' + cls.__name__)
  try:
{chr(10).join(lines) or "    pass"}
    if {condition}:
      return {{{", ".join(pairs)}}}
  except RecordError:
    pass
  raise RecordError(refuse(r))
"""
    scope["RecordError"] = RecordError
    exec(source, scope)  # noqa: S102 - names and types of our own records only
    return typing.cast("Convert", scope["write"])


def _find_field(record: Any, writers: list[tuple[str, Convert]], owner: str) -> str:
    for name, convert in writers:
        try:
            convert(getattr(record, name))
        except RecordError as error:
            return f"{owner}.{name}: {error}"
    return owner


@cache
def compile_reader(annotation: Any) -> Convert | None:
    """Return the function from an Avro structure to a record; None where they are the same."""
    if is_value(annotation):
        return read_value
    if annotation in {str, int, bool, bytes}:
        return None
    if members := branches(annotation):
        return _read_union(tuple(m for m in members if m is not type(None)))
    if typing.get_origin(annotation) is tuple:
        read_item = compile_reader(typing.get_args(annotation)[0])
        return tuple if read_item is None else lambda items: tuple([read_item(i) for i in items])
    if issubclass(annotation, StrEnum):
        return {member.value: member for member in annotation}.__getitem__
    return _read_record(annotation)


def _read_union(members: tuple[Any, ...]) -> Convert | None:
    readers = {f"{NAMESPACE}.{m.__name__}": compile_reader(m) for m in members}
    if all(reader is None for reader in readers.values()):
        return None

    def read(datum: Any) -> Any:
        if type(datum) is tuple:
            reader = readers[datum[0]]
            return reader(datum[1]) if reader else datum[1]
        return datum if only is None or datum is None else only(datum)

    # The Avro library names records only; an enum or array branch arrives bare.
    bare = [r for m, r in zip(members, readers.values(), strict=True) if not is_dataclass(m)]
    only = bare[0] if len(bare) == 1 else None
    return read


def _read_record(cls: Any) -> Convert:
    """Generate the constructor call: one dictionary look-up per field and no loop."""
    scope: dict[str, Any] = {"build": compile_building(cls)}
    arguments = []
    for name, hint in hints(cls).items():
        reader = compile_reader(hint)
        if reader is None:
            arguments.append(f"d[{name!r}]")
        else:
            scope[f"read_{name}"] = reader
            arguments.append(f"read_{name}(d[{name!r}])")
    exec(f"def read(d):\n return build({', '.join(arguments)})", scope)  # noqa: S102 - own names
    return typing.cast("Convert", scope["read"])


def compile_building(cls: type[R]) -> Callable[..., R]:
    """Return a function that builds a record from all its fields, by position.

    It fills a twin of the same layout, which is not frozen, and then declares it to be the record.
    Measured: a sixth of the constructor of a frozen dataclass, which sets field by field through
    ``object.__setattr__``. For places that build a record at every event; it checks nothing.
    """
    own = fields(cls)  # type: ignore[arg-type]
    names = [field.name for field in own]
    twin = type(cls.__name__, cls.__bases__, {"__slots__": tuple(names)})
    scope: dict[str, Any] = {"new": object.__new__, "twin": twin, "cls": cls}
    filled = "".join(f" r.{name} = {name}\n" for name in names)
    source = (
        f"def build({', '.join(names)}):\n r = new(twin)\n{filled} r.__class__ = cls\n return r"
    )
    exec(source, scope)  # noqa: S102 - names and types of our own records only
    build = scope["build"]
    build.__defaults__ = tuple(field.default for field in own if field.default is not MISSING)
    return typing.cast("Callable[..., R]", build)
