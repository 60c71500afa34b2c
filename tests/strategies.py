"""Hypothesis strategies shared by the property tests: any value, any record, from annotations."""

import typing
from dataclasses import is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache

from hypothesis import strategies as st

from schemas.record import branches, hints, is_value
from schemas.value import Elapsed, Money, Period, RecordValue, StringSet, Timestamp

int64 = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
decimals = st.decimals(-(10**12), 10**12, allow_nan=False, places=2).map(
    lambda d: abs(d) if d.is_zero() else d
)
times = st.times().map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000))
locals_ = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001 - local
    lambda d: d.replace(microsecond=d.microsecond // 1000 * 1000)
)
periods = st.tuples(st.integers(0, 900_000), st.integers(0, 900_000), st.sampled_from([1, -1])).map(
    lambda p: Period(p[0] * p[2], p[1] * p[2])
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    int64,
    texts,
    decimals,
    st.builds(Money, decimals, st.sampled_from(["", "EUR", "USD"])),
    st.dates(),
    times,
    locals_,
    st.builds(Timestamp, int64),
    st.builds(Elapsed, int64),
    periods,
    st.lists(texts, max_size=3).map(lambda items: StringSet(tuple(sorted(set(items))))),
)
_names = st.text(st.characters(categories=("Ll", "Lo")), min_size=1, max_size=4)


def _nest(inner):
    lists = st.lists(inner, max_size=3).map(tuple)
    records = st.dictionaries(_names, inner, max_size=3).map(
        lambda fields: RecordValue(tuple(sorted(fields.items())))
    )
    return st.one_of(lists, records)


values = st.recursive(scalars, _nest, max_leaves=6)


@cache
def records(annotation):
    """Return a strategy for any value of a record class or field annotation."""
    plain = {str: texts, int: int64, bool: st.booleans(), bytes: st.binary(max_size=33)}
    if annotation in plain:
        return plain[annotation]
    if is_value(annotation):
        return values
    if members := branches(annotation):
        return st.one_of(
            *[st.none() if member is type(None) else records(member) for member in members]
        )
    if typing.get_origin(annotation) is tuple:
        return st.lists(records(typing.get_args(annotation)[0]), max_size=2).map(tuple)
    if issubclass(annotation, StrEnum):
        return st.sampled_from(list(annotation))
    assert is_dataclass(annotation)
    return st.builds(annotation, **{k: records(hint) for k, hint in hints(annotation).items()})


__all__ = ["int64", "records", "scalars", "texts", "values"]
