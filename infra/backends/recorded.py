"""Recordings: every reply and error of a backend as JSON lines, and the backend that replays them.

A line is named by the digest of what was answered and the attempt, so a recording serves any
log on which the same packets come out: the embedded one, Kafka, or a replay. What it says again
names the backend that said it first, so the events are the same and what was simulated stays so.
"""

import json
import threading
import time
from pathlib import Path
from typing import Any, Final

from infra.backends.port import Backend, BackendError, BackendTimeoutError, Call, Reply

RECORDED: Final = "recorded"
"""The kind of a line that names no backend: recordings did not before."""
_REPLY_FIELDS: Final = ("text", "finish_reason", "tokens_in", "tokens_out", "latency_ms")


class RecordingError(Exception):
    """A file is no recording; the message names the line and the remedy."""


class Recorder:
    """A backend that writes down what another one says, as it comes."""

    def __init__(self, backend: Backend, path: Path, held: "RecordedBackend | None" = None) -> None:
        """Write behind what the file holds; of calls that ``held`` knows none is made again."""
        self._backend = backend
        self._held = held
        self._answering: Backend = backend
        self._file = path.open("a", encoding="utf-8")
        self._writing = threading.Lock()

    @property
    def kind(self) -> str:
        """The kind of the backend that answered last."""
        return self._answering.kind

    @property
    def model(self) -> str:
        """Its model."""
        return self._answering.model

    @property
    def server_version(self) -> str:
        """Its server's version."""
        return self._answering.server_version

    def answer(self, call: Call) -> Reply:
        """Answer as the recorded backend does, its time measured here."""
        if self._held is not None and self._held.holds(call):
            self._answering = self._held
            return self._held.answer(call)
        self._answering = self._backend
        started = time.monotonic_ns()
        try:
            reply = self._backend.answer(call)
        except BackendError as error:
            error.latency_ms = (time.monotonic_ns() - started) // 1_000_000
            self._write(
                call,
                {
                    "error": error.detail,
                    "timeout": isinstance(error, BackendTimeoutError),
                    "again": error.again,
                    "latency_ms": error.latency_ms,
                },
            )
            raise
        latency_ms = (time.monotonic_ns() - started) // 1_000_000
        fields = {name: getattr(reply, name) for name in _REPLY_FIELDS}
        self._write(call, fields | {"latency_ms": latency_ms})
        return Reply(**(fields | {"latency_ms": latency_ms}))

    def close(self) -> None:
        """Close the file and the recorded backend."""
        self._file.close()
        self._backend.close()

    def _write(self, call: Call, fields: dict[str, Any]) -> None:
        line = {
            "subject": call.subject.hex(),
            "attempt": call.attempt,
            "backend": self.kind,
            "model": self.model,
            "server_version": self.server_version,
        }
        with self._writing:
            self._file.write(json.dumps(line | fields) + "\n")
            self._file.flush()


class RecordedBackend:
    """Says again what was recorded, errors included; it never calls a model."""

    def __init__(self, path: Path) -> None:
        """Read a recording; of two lines for one call the last counts.

        Raises:
            RecordingError: a line is not in its form.

        """
        self._lines: dict[tuple[str, int], dict[str, Any]] = {}
        self.kind, self.model, self.server_version = RECORDED, "", ""
        # Bytes that are no UTF-8 become half characters, in which no reply was ever recorded.
        lines = path.read_text("utf-8", "surrogateescape").splitlines()
        for number, text in enumerate(lines, start=1):
            try:
                line = json.loads(text)
                self._lines[str(line["subject"]), int(line["attempt"])] = line
                if "error" not in line:
                    Reply(**{name: line[name] for name in _REPLY_FIELDS})
                self._name(line)
            except (ValueError, KeyError, TypeError, RecursionError):
                raise RecordingError(
                    f"{path}, line {number}: no recorded reply; record with --record"
                ) from None

    def holds(self, call: Call) -> bool:
        """Return whether this call was recorded."""
        return (call.subject.hex(), call.attempt) in self._lines

    def answer(self, call: Call) -> Reply:
        """Return what was recorded for this call."""
        line = self._lines.get((call.subject.hex(), call.attempt))
        if line is None:
            raise BackendError("nothing is recorded for this packet", again=False, latency_ms=0)
        self._name(line)
        if "error" in line:
            kind = BackendTimeoutError if line.get("timeout") else BackendError
            raise kind(
                str(line["error"]), again=line.get("again") is True, latency_ms=line["latency_ms"]
            )
        return Reply(**{name: line[name] for name in _REPLY_FIELDS})

    def _name(self, line: dict[str, Any]) -> None:
        self.kind = str(line.get("backend", RECORDED))
        self.model = str(line["model"])
        self.server_version = str(line["server_version"])

    def close(self) -> None:
        """Hold nothing open."""
