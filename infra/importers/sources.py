"""Files of foreign formats: JSON, plain or gzip, read whole and named in every complaint.

Only reading and checking of shapes lives here; what the content means is each importer's.
"""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any


class SourceError(ValueError):
    """A source cannot be imported; the message names the place, what is wrong and the remedy."""

    def __init__(self, place: object, detail: str, remedy: str) -> None:
        """Keep the three parts."""
        super().__init__(f"{place}: {detail}; {remedy}")
        self.place = str(place)
        self.detail = detail
        self.remedy = remedy


def read_json(path: Path) -> Any:
    """Return the content of a JSON file, ``.gz`` or plain.

    Raises:
        SourceError: it is absent, unreadable, no gzip or no JSON.

    """
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        return json.loads(data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(path, reason, "name an existing, readable file") from None
    except (EOFError, zlib.error):
        raise SourceError(path, "the gzip data is cut short or damaged", "fetch it anew") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise SourceError(path, f"no JSON ({error})", "name a JSON file, .json or .gz") from None


def find_file(folder: Path, name: str) -> Path:
    """Return ``name`` or ``name.gz`` in the folder.

    Raises:
        SourceError: neither is there.

    """
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise SourceError(folder, f"holds no {name}", f"put {name} or {name}.gz beside the data")


def pick(record: Any, field: str, kind: type, place: object) -> Any:
    """Return a field of a JSON object that must be of this type.

    Raises:
        SourceError: naming the place and the field.

    """
    value = record.get(field) if isinstance(record, dict) else None
    if not isinstance(value, kind):
        found = "absent" if value is None else f"{type(value).__name__}, not {kind.__name__}"
        raise SourceError(place, f"field {field!r} is {found}", "name data of the right format")
    return value
