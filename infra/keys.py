"""Signing keys for development: a JSON file or the same text in the environment (spec 1.6).

A key belongs to one tenant and one kind of principal; control records have the tenant "". Keys
never enter a log. In production the edge that holds the user's own channel keeps the user keys.
"""

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.settings import Settings
from schemas.event import Event, PrincipalKind
from schemas.signing import KEY_BYTES_MIN, sign
from streams.authentication import Authenticator, KeyRing, MacCheck, NoKeys

FORMAT: Final = 1
KEY_BYTES: Final = 32
KINDS: Final = tuple(kind.value for kind in PrincipalKind if kind is not PrincipalKind.UNKNOWN)
CONTROL_TENANT: Final = ""
ENVIRONMENT: Final = "COMMITMENTS_KEYS"


class KeysError(ValueError):
    """A key file cannot be used; the message names the place and the remedy."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One key of a tenant and principal kind; of several the last one signs, all verify."""

    tenant: str
    kind: str
    key: bytes

    @property
    def fingerprint(self) -> str:
        """Return a short name of the key that gives nothing of it away."""
        return hashlib.sha256(b"fingerprint\0" + self.key).hexdigest()[:16]


class StaticKeys:
    """The ``KeyRing`` of a list of keys."""

    def __init__(self, keys: Iterable[SigningKey]) -> None:
        """Hold these keys, oldest first."""
        self._keys: dict[tuple[str, str], list[bytes]] = {}
        for item in keys:
            self._keys.setdefault((item.tenant, item.kind), []).append(item.key)

    def find_keys(self, tenant: str, kind: str) -> Sequence[bytes]:
        """Return every key of this tenant and kind, the one to sign with last."""
        return self._keys.get((tenant, kind), ())


def sign_event(event: Event, keys: KeyRing | None) -> Event:
    """Return the event signed with the newest key of its tenant and kind.

    Without keys it goes unsigned; one that carries a mac already keeps it.

    Raises:
        KeysError: there are keys, but none for this tenant and kind.
    """
    if keys is None or event.mac is not None:
        return event
    kind = event.principal.kind.value
    found = keys.find_keys(event.tenant, kind)
    if not found:
        tenant = f"tenant {event.tenant!r}" if event.tenant else "control records"
        raise KeysError(
            f"there is no {kind} key for {tenant}: make one with "
            f"`commitments keys create --file FILE --tenant {event.tenant or '-'} --kind {kind}`"
        )
    return sign(event, found[-1])


def configured_keys(settings: Settings | None = None) -> StaticKeys | None:
    """Return the keys that the environment names, or None for an open log.

    Raises:
        KeysError: a file or text that does not hold keys.
    """
    chosen = Settings() if settings is None else settings
    if chosen.keys_file is not None:
        return StaticKeys(read_keys(chosen.keys_file))
    if chosen.keys is not None:
        return StaticKeys(parse_keys(chosen.keys.get_secret_value(), ENVIRONMENT))
    return None


def build_authenticator(keys: KeyRing | None) -> Authenticator:
    """Return what judges macs: with keys only a verified one counts."""
    return NoKeys() if keys is None else MacCheck(keys)


def read_keys(path: Path) -> list[SigningKey]:
    """Return the keys of a file, oldest first.

    Raises:
        KeysError: it is missing, readable by others, or holds no keys.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KeysError(f"{path}: {error}; make it with `commitments keys create`") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeysError(f"{path}: others may read it; run chmod 600 on it")
    return parse_keys(text, str(path))


def parse_keys(text: str, place: str) -> list[SigningKey]:
    """Return the keys of a JSON text; errors never repeat what it holds.

    Raises:
        KeysError: naming place, entry and field.
    """
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise KeysError(f"{place}: not JSON; make it with `commitments keys create`") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise KeysError(f"{place}: not a key file of format {FORMAT}")
    listed = data.get("keys")
    if not isinstance(listed, list):
        raise KeysError(f"{place}: keys: not a list")
    return [_parse_key(item, f"{place}: keys[{number}]") for number, item in enumerate(listed)]


def create_keys(path: Path, *, tenant: str, kinds: Sequence[str]) -> list[SigningKey]:
    """Add a fresh key for each kind of a tenant to a file and return the new ones.

    Older keys of the same kind stay, so that what they signed still verifies; new events are
    signed with the new one.
    """
    keys = read_keys(path) if path.exists() else []
    fresh = [SigningKey(tenant, kind, secrets.token_bytes(KEY_BYTES)) for kind in kinds]
    write_private(path, _render(keys + fresh))
    return fresh


def write_private(path: Path, content: bytes) -> None:
    """Replace a file that only its owner may read; whole or not at all, and durably."""
    draft = path.with_name(path.name + ".draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "wb") as stream:  # noqa: PTH123 - opened by its descriptor
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _parse_key(item: Any, place: str) -> SigningKey:
    try:
        parsed = SigningKey(item["tenant"], item["kind"], bytes.fromhex(item["key"]))
    except (TypeError, KeyError, ValueError):
        raise KeysError(f"{place}: needs tenant, kind and key (hexadecimal digits)") from None
    if parsed.kind not in KINDS or not isinstance(parsed.tenant, str):
        raise KeysError(f"{place}: kind: none of {', '.join(KINDS)}")
    if len(parsed.key) < KEY_BYTES_MIN:
        raise KeysError(f"{place}: key: {len(parsed.key)} bytes; use {KEY_BYTES}")
    return parsed


def _render(keys: Iterable[SigningKey]) -> bytes:
    listed = [{"tenant": k.tenant, "kind": k.kind, "key": k.key.hex()} for k in keys]
    return json.dumps({"format": FORMAT, "keys": listed}, indent=1).encode() + b"\n"
