"""Events as JSON lines: the format of ``commitments observe`` and ``import jsonl``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from infra.event_json import EventFormError, parse_event
from schemas.event import Event

LINE_BYTES_MAX: Final = 32 * 2**20


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line that is no event: where, and why."""

    source: str
    line: int
    reason: str


def read_lines(stream: BinaryIO, source: str, wrong: list[WrongLine]) -> Iterator[Event]:
    """Yield the events of a stream; each wrong line goes to ``wrong`` and the rest goes on."""
    number = 0
    while line := stream.readline(LINE_BYTES_MAX + 1):
        number += 1
        try:
            if len(line) > LINE_BYTES_MAX:
                _skip_rest(stream, line)
                raise EventFormError(f"longer than {LINE_BYTES_MAX} bytes")
            # Some editors begin a file with a byte order mark; it is no part of the first event.
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if text:
                yield parse_event(text)
        except UnicodeDecodeError as error:
            wrong.append(WrongLine(source, number, f"not UTF-8 at byte {error.start}"))
        except EventFormError as error:
            wrong.append(WrongLine(source, number, str(error)))


def _skip_rest(stream: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(LINE_BYTES_MAX)
