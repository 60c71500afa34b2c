"""A schema registry over its Confluent-compatible HTTP interface: registering, and asking for ids.

Works with Confluent's own server and with Apicurio (`/apis/ccompat/v7`). What an id means for a
record is streams/registered.py's affair.
"""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any, Final

from infra.records import OUTPUT_RECORDS, TABLES
from schemas.codec import schema_fingerprint, schema_text, text_fingerprint
from schemas.event import Event
from schemas.row import ROW_RECORDS
from schemas.topics import EVENTS, TOPICS, name_topic
from streams.failures import StoreUnavailableError

ASK_TIMEOUT_S: Final = 5.0
TRIES: Final = 4
PAUSE_S: Final = 1.0
_CONTENT: Final = "application/vnd.schemaregistry.v1+json"

REGISTERED_TOPICS: Final = (EVENTS.name, *OUTPUT_RECORDS, *TABLES)
"""Names without prefix of the topics whose values name a schema by its id."""


class RegistryRefusedError(Exception):
    """The registry does not take a schema, or is none; the message says which and why."""


class Registry:
    """One registry; ids never change, so each is asked for once."""

    def __init__(self, url: str, *, prefix: str = "") -> None:
        """Name the registry, http(s)://HOST:PORT[/PATH], and the prefix of the topics.

        Nothing is asked yet.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"registry {url!r}: use http://HOST:PORT or https://HOST:PORT")
        self._url = url.rstrip("/")
        self._prefix = prefix
        self._ids: dict[bytes, int] | None = None
        self._fingerprints: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def register(self) -> dict[str, int]:
        """Register the schemas of all public topics; return each subject's id.

        Doing it again changes nothing.

        Raises:
            RegistryRefusedError: a subject holds an incompatible schema, or this is no registry.
            StoreUnavailableError: the registry does not answer.
        """
        found = {}
        for subject, cls in list_subjects(self._prefix):
            answer = self._ask(f"/subjects/{subject}/versions", {"schema": schema_text(cls)})
            if "id" not in answer:
                raise RegistryRefusedError(f"{self._url}: no schema registry stands at this path")
            found[subject] = int(answer["id"])
        return found

    def find_id(self, fingerprint: bytes) -> int | None:
        """Return the id of one of our schemas; see SchemaIds."""
        if self._ids is None:
            self._ids = self._load()
        return self._ids.get(fingerprint)

    def find_fingerprint(self, schema_id: int) -> bytes | None:
        """Return the fingerprint of an id's schema; see SchemaIds."""
        known = self._fingerprints.get(schema_id)
        if known is None:
            answer = self._ask(f"/schemas/ids/{schema_id}", None)
            known = _read_fingerprint(answer.get("schema"))
            if known is not None:
                self._fingerprints[schema_id] = known
        return known

    def _load(self) -> dict[bytes, int]:
        with self._lock:
            found = {}
            for subject, cls in list_subjects(self._prefix):
                answer = self._ask(f"/subjects/{subject}", {"schema": schema_text(cls)})
                if "id" not in answer:
                    raise StoreUnavailableError(
                        f"registry {self._url}: the schema of {subject} is not registered: run "
                        "`commitments provision --registry URL`"
                    )
                found[schema_fingerprint(cls)] = int(answer["id"])
            return found

    def _ask(self, path: str, body: Any) -> dict[str, Any]:
        """Return the answer's JSON; an empty one when what was asked for is not there."""
        request = urllib.request.Request(  # noqa: S310  # http(s) only, see __init__
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": _CONTENT, "Accept": _CONTENT},
        )
        reason = ""
        for left in reversed(range(TRIES)):
            try:
                with urllib.request.urlopen(request, timeout=ASK_TIMEOUT_S) as answer:  # noqa: S310
                    told = json.loads(answer.read())
                    return told if isinstance(told, dict) else {}
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    return {}
                if error.code < 500:
                    raise RegistryRefusedError(
                        f"registry {self._url}{path}: {error.code} {_read_reason(error)}"
                    ) from None
                reason = f"HTTP {error.code}"
            except ValueError:
                raise RegistryRefusedError(f"{self._url}{path}: no schema registry") from None
            except OSError as error:
                reason = str(getattr(error, "reason", error))
            if left:
                time.sleep(PAUSE_S)
        raise StoreUnavailableError(
            f"registry {self._url}: {reason}. Nothing is read or rejected without it"
        )


def list_subjects(prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield every subject with its record: TopicNameStrategy, tables TopicRecordNameStrategy."""
    named = {topic.name: name_topic(topic, prefix=prefix) for topic in TOPICS}
    yield f"{named[EVENTS.name]}-value", Event
    for topic, record in OUTPUT_RECORDS.items():
        yield f"{named[topic]}-value", record
    for topic, kinds in TABLES.items():
        for kind in sorted(kinds):
            cls: Any = ROW_RECORDS[kind]
            full = json.loads(schema_text(cls))
            yield f"{named[topic]}-{full['name']}", cls


def _read_fingerprint(text: Any) -> bytes | None:
    try:
        return text_fingerprint(text) if isinstance(text, str) else None
    except ValueError:  # A schema of another kind, such as JSON Schema.
        return None


def _read_reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read()).get("message", ""))[:300]
    except (ValueError, OSError):
        return ""
