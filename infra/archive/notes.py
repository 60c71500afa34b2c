"""Signed notes in the C2SP form: a text, a blank line, and Ed25519 signatures by named keys.

Keys are the one-line texts of that form, so other tools read them. The signature scheme itself is
the cryptography package's; nothing is signed or verified by hand here.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

ED25519: Final = b"\x01"
KEY_ID_BYTES: Final = 4
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
_SECRET: Final = "PRIVATE+KEY+"  # noqa: S105 - how the form opens a signer's key
_MARK: Final = "\u2014 "


class NoteError(ValueError):
    """A key or a note is not in its form; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class SignerKey:
    """A named private key."""

    name: str
    seed: bytes


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A named public key."""

    name: str
    public: bytes


def generate_key(name: str) -> SignerKey:
    """Return a new key of this name.

    Raises:
        NoteError: the name is empty or holds a plus sign or white space.

    """
    _check_name(name)
    return SignerKey(name, Ed25519PrivateKey.generate().private_bytes_raw())


def verifier_of(key: SignerKey) -> VerifierKey:
    """Return the public half of a key."""
    public = Ed25519PrivateKey.from_private_bytes(key.seed).public_key()
    return VerifierKey(key.name, public.public_bytes_raw())


def render_signer(key: SignerKey) -> str:
    """Return a private key's text; whoever has it can sign."""
    return _SECRET + _render_key(key.name, _key_id(verifier_of(key)), key.seed)


def render_verifier(key: VerifierKey) -> str:
    """Return a public key's text, to be handed to everyone."""
    return _render_key(key.name, _key_id(key), key.public)


def parse_signer(text: str) -> SignerKey:
    """Return the key of a private key's text.

    Raises:
        NoteError: it is none.

    """
    if not text.startswith(_SECRET):
        raise NoteError(f"no private key: it opens with {_SECRET}")
    name, key_id, content = _parse_key(text.removeprefix(_SECRET))
    key = SignerKey(name, content)
    if _key_id(verifier_of(key)) != key_id:
        raise NoteError("the private key and its id do not belong together")
    return key


def parse_verifier(text: str) -> VerifierKey:
    """Return the key of a public key's text.

    Raises:
        NoteError: it is none.

    """
    name, key_id, content = _parse_key(text)
    key = VerifierKey(name, content)
    if _key_id(key) != key_id:
        raise NoteError("the public key and its id do not belong together")
    return key


def sign_note(text: str, key: SignerKey) -> str:
    """Return a note: the text, which ends in a line break, and its signature."""
    assert text.endswith("\n"), "a note's text ends in a line break"
    signature = Ed25519PrivateKey.from_private_bytes(key.seed).sign(text.encode())
    stamp = base64.b64encode(_key_id(verifier_of(key)) + signature).decode()
    return f"{text}\n{_MARK}{key.name} {stamp}\n"


def split_note(note: str) -> tuple[str, tuple[str, ...]]:
    """Return a note's text and its signature lines.

    Raises:
        NoteError: it is no signed note.

    """
    place = note.rfind("\n\n")
    if place < 0 or not note.endswith("\n"):
        raise NoteError("no signed note: text, a blank line, and signatures")
    lines = note[place + 2 :].splitlines()
    if not lines or not all(line.startswith(_MARK) for line in lines):
        raise NoteError("a line below the blank one is no signature")
    return note[: place + 1], tuple(lines)


def is_signed_by(note: str, key: VerifierKey) -> bool:
    """Tell whether a note carries a valid signature of this key.

    Raises:
        NoteError: it is no signed note.

    """
    text, lines = split_note(note)
    for line in lines:
        name, _, stamp = line.removeprefix(_MARK).partition(" ")
        content = _decode(stamp)
        key_id, signature = content[:KEY_ID_BYTES], content[KEY_ID_BYTES:]
        if name != key.name or key_id != _key_id(key) or len(signature) != SIGNATURE_BYTES:
            continue
        try:
            Ed25519PublicKey.from_public_bytes(key.public).verify(signature, text.encode())
        except InvalidSignature:
            return False
        return True
    return False


def _key_id(key: VerifierKey) -> bytes:
    content = key.name.encode() + b"\n" + ED25519 + key.public
    return hashlib.sha256(content).digest()[:KEY_ID_BYTES]


def _render_key(name: str, key_id: bytes, content: bytes) -> str:
    return f"{name}+{key_id.hex()}+{base64.b64encode(ED25519 + content).decode()}"


def _parse_key(text: str) -> tuple[str, bytes, bytes]:
    parts = text.strip().split("+", 2)
    if len(parts) != 3:
        raise NoteError("no key: name, id and content with plus signs between them")
    name, key_id, content = parts[0], parts[1], _decode(parts[2])
    _check_name(name)
    if content[:1] != ED25519 or len(content) != 1 + KEY_BYTES:
        raise NoteError("no Ed25519 key")
    try:
        return name, bytes.fromhex(key_id), content[1:]
    except ValueError:
        raise NoteError("the key's id is not hexadecimal") from None


def _check_name(name: str) -> None:
    if not name or "+" in name or any(c.isspace() for c in name) or not name.isprintable():
        raise NoteError(f"{name!r:.40} is no key name: no white space and no plus sign")


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoteError("not base64") from None
