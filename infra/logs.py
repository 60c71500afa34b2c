"""Logs for people: structlog, an allow-list of keys, never the content of an event.

What a decision rests on is in its record; logs say what the process does. A key that is not on
the list is dropped, and an exception shows its type and place but not its message, which may
carry what a user wrote.
"""

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, Final

import structlog

ALLOWED_KEYS: Final = frozenset(
    {
        "event", "level", "timestamp", "logger", "partition", "partitions", "offset", "topic",
        "batch", "events", "outputs", "rows", "bytes", "duration_ms", "reason", "role", "worker",
        "exit_code", "attempt", "crash_point", "durability", "mode", "version", "count",
        "exception_type", "exception_place", "remedy", "port", "lag", "restored", "gaps",
        "authority",
    }
)  # fmt: skip
_PLAIN: Final = (str, int, bool, float, type(None))


def _keep_allowed(
    _logger: Any, _method: str, entry: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Drop every key that is not allowed and every value that is no plain one."""
    return {
        key: value
        for key, value in entry.items()
        if key in ALLOWED_KEYS and isinstance(value, _PLAIN)
    }


def _name_exception(
    _logger: Any, _method: str, entry: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Replace exception info by its type and the place that raised it."""
    info = entry.pop("exc_info", None)
    error = sys.exc_info()[1] if info is True else info
    if isinstance(error, BaseException):
        frames = traceback.extract_tb(error.__traceback__)
        entry["exception_type"] = type(error).__name__
        if frames:
            entry["exception_place"] = f"{frames[-1].name}:{frames[-1].lineno}"
    return entry


def configure_logs(*, log_format: str, level: str) -> None:
    """Write logs to standard error, as lines for people or as JSON."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _name_exception,
            _keep_allowed,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
