"""Plain and encrypted logs: which one a folder is, and how it is opened (spec 7.5).

An encrypted log says so in a file of its folder; its keys are in the key store that the
environment names, never beside it.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from infra.key_store import FileKeyStore
from infra.reducers import build_reducer
from infra.settings import Settings
from schemas.codec import HEADER_BYTES, MARKER, schema_fingerprint
from schemas.sealed import SealedEvent
from schemas.topics import SEALED, name_topic
from streams.connection import Connection
from streams.embedded import Embedded
from streams.failures import KeyStoreFailedError
from streams.kafka_log import has_topic
from streams.opening import Opener, PlainOpener
from streams.ports import LogRecord
from streams.sealing import SealedOpener

MARK_NAME: Final = "encryption.json"
_MARK: Final = {"format": 1, "mode": "encrypted", "cipher": "AES-SIV-512"}

PLAIN_MODE: Final = (
    "plain mode: events stand in the clear for ever; erasing withdraws them, and deletes no byte "
    "of the log"
)
ENCRYPTED_MODE: Final = "encrypted mode: events and outputs are sealed; erasing destroys their keys"


def is_encrypted(folder: Path) -> bool:
    """Tell whether a folder is an encrypted log."""
    return (folder / MARK_NAME).is_file()


def mark_encrypted(folder: Path) -> None:
    """Make a log that holds no event of a user yet an encrypted one."""
    (folder / MARK_NAME).write_text(json.dumps(_MARK) + "\n", "utf-8")


def describe_mode(folder: Path) -> str:
    """Return in one line what erasing means on a log."""
    return ENCRYPTED_MODE if is_encrypted(folder) else PLAIN_MODE


def open_key_store(settings: Settings | None = None) -> FileKeyStore:
    """Open the key store that the environment names.

    Raises:
        KeyStoreFailedError: none is named, or it cannot be read.
    """
    path = (Settings() if settings is None else settings).key_store
    if path is None:
        raise KeyStoreFailedError(
            "this log is encrypted: set COMMITMENTS_KEY_STORE to the folder of its keys"
        )
    return FileKeyStore(path)


def build_opener(folder: Path) -> Opener:
    """Return what reads the log of a folder."""
    return SealedOpener(open_key_store()) if is_encrypted(folder) else PlainOpener()


def open_topics(connection: Connection, *, prefix: str) -> Opener:
    """Return what reads and seals the topics of a prefix: encrypted ones say so by one more topic.

    Raises:
        StoreUnavailableError: the brokers do not answer.
        KeyStoreFailedError: they are encrypted, and no key store is named.
    """
    name = name_topic(SEALED, prefix=prefix)
    return SealedOpener(open_key_store()) if has_topic(connection, name) else PlainOpener()


def choose_opener(records: Iterable[LogRecord]) -> Opener:
    """Return what reads these records: sealed ones need the key store."""
    sealed = MARKER + schema_fingerprint(SealedEvent)
    for record in records:
        if record.value is not None and record.value[:HEADER_BYTES] == sealed:
            return SealedOpener(open_key_store())
    return PlainOpener()


def open_embedded(folder: Path) -> Embedded:
    """Open the embedded log of a folder, plain or encrypted; a new folder becomes a plain one."""
    opener = build_opener(folder)
    return Embedded(folder, build_reducer(opener=opener), opener=opener)
