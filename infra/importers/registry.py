"""The importers by name: what ``commitments import`` can read."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from infra.importers.jsonl import WrongLine, read_lines
from infra.importers.sgd import import_sgd
from infra.importers.tau import import_tau
from schemas.event import Event

Read = Callable[[Sequence[Path], frozenset[str], list[WrongLine]], Iterator[Event]]


def _read_jsonl(
    paths: Sequence[Path], _kinds: frozenset[str], wrong: list[WrongLine]
) -> Iterator[Event]:
    for path in paths:
        with path.open("rb") as stream:
            yield from read_lines(stream, str(path), wrong)


def _read_sgd(
    paths: Sequence[Path], kinds: frozenset[str], _wrong: list[WrongLine]
) -> Iterator[Event]:
    return import_sgd(paths, kinds)


def _read_tau(
    paths: Sequence[Path], _kinds: frozenset[str], _wrong: list[WrongLine]
) -> Iterator[Event]:
    for path in paths:
        yield from import_tau(path)


IMPORTERS: Final[dict[str, Read]] = {"jsonl": _read_jsonl, "sgd": _read_sgd, "tau": _read_tau}
