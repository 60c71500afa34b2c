"""Certificates as files: outcome records as ``outputs --json`` prints them, one or one a line.

Only what names an outcome is read here; what else it says is compared as it stands.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.event_json import EventFormError, parse_object
from processors.certification import OutcomeNames

WRAPPERS = ("record", "outcome")
"""``outputs --json`` puts the record beside its offset, ``explain --json`` beside its packets."""


class CertificateError(ValueError):
    """A file holds no certificate; the message names the line and the field."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One certificate as given: its line, its names, and all of it as plain JSON."""

    line: int
    offset: int | None
    tenant: str
    user: str
    names: OutcomeNames
    data: dict[str, Any]


def read_certificates(path: Path) -> list[Stated]:
    """Return the certificates of a file: one JSON object, or one a line.

    Raises:
        CertificateError: naming the line and the field that is missing or of another type.

    """
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise CertificateError(f"{path}: not UTF-8") from None
    try:
        return [_read(1, parse_object(text))]
    except EventFormError:
        lines = [(place, line) for place, line in enumerate(text.split("\n"), 1) if line.strip()]
    except CertificateError as error:
        raise CertificateError(f"{path}: {error}") from None
    if not lines:
        raise CertificateError(f"{path}: holds no certificate")
    found = []
    for place, line in lines:
        try:
            found.append(_read(place, parse_object(line)))
        except (EventFormError, CertificateError) as error:
            raise CertificateError(f"{path}, line {place}: {error}") from None
    return found


def _read(line: int, data: dict[str, Any]) -> Stated:
    offset = data.get("offset")
    for name in WRAPPERS:
        if isinstance(data.get(name), dict) and "outcome_id" not in data:
            data = data[name]
    names = OutcomeNames(
        outcome_id=_read_id(data), turn_id=_read_field(data, "turn_id", str),
        seq=_read_field(data, "seq", int),
    )  # fmt: skip
    return Stated(
        line=line,
        offset=offset if type(offset) is int else None,
        tenant=_read_field(data, "tenant", str),
        user=_read_field(data, "user", str),
        names=names,
        data=data,
    )


def _read_id(data: dict[str, Any]) -> bytes:
    try:
        return bytes.fromhex(_read_field(data, "outcome_id", str))
    except ValueError as error:
        if isinstance(error, CertificateError):
            raise
        raise CertificateError("outcome_id: not hexadecimal digits") from None


def _read_field(data: dict[str, Any], name: str, kind: type) -> Any:
    value = data.get(name)
    if type(value) is not kind:
        raise CertificateError(f"{name}: an outcome states one, as {kind.__name__}")
    return value
