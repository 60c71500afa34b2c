"""The key store of encrypted logs: one folder outside every log, one database and one master key.

Data keys of events and turns are wrapped by their user's key, user keys by the master key. What
is erased leaves a receipt. Copies of this folder keep what was erased in it; make none.
"""

import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Final, TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from infra.keys import write_private
from schemas.identity import prefix_lengths
from streams.crash_points import reach
from streams.sealing import Erased, KeyStoreFailedError

R = TypeVar("R")

MASTER_NAME: Final = "master.key"
DATABASE_NAME: Final = "keys.sqlite3"
KEY_BYTES: Final = 64  # AES-SIV takes two AES-256 keys.
_BUSY_S: Final = 30.0
_TABLES: Final = """
create table if not exists tenants (tenant text primary key, wrapped blob not null) strict;
create table if not exists users (
    pseudonym blob primary key, tenant text not null, version integer not null,
    wrapped blob not null) strict;
create table if not exists data_keys (
    reference blob primary key, pseudonym blob not null, wrapped blob,
    receipt text, seq integer) strict;
create index if not exists by_user on data_keys (pseudonym);
"""
_ERASE: Final = """
insert into data_keys (reference, pseudonym, receipt, seq) values (?, ?, ?, ?)
on conflict (reference) do update set
    wrapped = null, receipt = excluded.receipt, seq = excluded.seq where receipt is null
"""
_DROP_USER: Final = """
delete from users where pseudonym = ? and not exists (
    select 1 from data_keys where data_keys.pseudonym = ? and receipt is null)
"""


class FileKeyStore:
    """The ``KeyStore`` of one folder; any number of processes and threads may use it."""

    def __init__(self, folder: Path) -> None:
        """Open the folder, or make it a key store that only its owner may read.

        Raises:
            KeyStoreFailedError: it cannot be read, or its master key is gone.
        """
        self._folder, self._lock = folder, RLock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._master = self._read_master()
            self._database = sqlite3.connect(
                folder / DATABASE_NAME, timeout=_BUSY_S, isolation_level=None,
                check_same_thread=False,
            )  # fmt: skip
            (folder / DATABASE_NAME).chmod(0o600)
            self._database.execute("pragma secure_delete = on")
            self._database.execute("pragma synchronous = full")
            self._database.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise KeyStoreFailedError(f"key store {folder}: {error}; restore or mount it") from None

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def name_user(self, tenant: str, user: str) -> bytes:
        """Return HMAC-SHA-256 of the user under the tenant's key, which is never rotated."""
        key = self._ask(lambda: self._obtain_tenant(tenant))
        return hmac.new(key, user.encode(), hashlib.sha256).digest()

    def name_key(self, pseudonym: bytes, name: Sequence[str]) -> bytes:
        """Return the reference of a data key: keyed, so that it gives no name away."""
        parts = (pseudonym, *(part.encode() for part in name))
        return hmac.new(self._naming_key(), prefix_lengths(*parts), hashlib.sha256).digest()

    def find(self, reference: bytes) -> bytes | Erased:
        """Return a data key or the receipt of its erasure; anything else is a failure."""
        found = self._ask(lambda: self._find(reference))
        if found is None:
            raise KeyStoreFailedError(
                f"key store {self._folder}: it holds neither the key {reference.hex()[:16]} nor a "
                "receipt for it; restore the store that belongs to this log"
            )
        return found

    def obtain(self, reference: bytes, *, tenant: str, pseudonym: bytes) -> bytes | Erased:
        """Return a data key, made durably now if there was none."""
        found = self._ask(lambda: self._find(reference))
        if found is not None:
            return found
        with self.together():
            found = self._ask(lambda: self._find(reference))
            if found is not None:
                return found
            key = secrets.token_bytes(KEY_BYTES)
            wrapped = _wrap(self._obtain_user(tenant, pseudonym), key, reference)
            self._change(
                "insert into data_keys (reference, pseudonym, wrapped) values (?, ?, ?)",
                [(reference, pseudonym, wrapped)],
            )
        return key

    def encrypt(self, key: bytes, content: bytes, bound: Sequence[bytes]) -> bytes:
        """Return AES-SIV of the content bound to these texts."""
        return AESSIV(key).encrypt(content, list(bound))

    def decrypt(self, key: bytes, sealed: bytes, bound: Sequence[bytes]) -> bytes | None:
        """Return the content, or None if it was not sealed so."""
        try:
            return AESSIV(key).decrypt(sealed, list(bound))
        except (InvalidTag, ValueError):
            return None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make what is done inside durable at once, when it ends; nests."""
        with self._lock:
            if self._database.in_transaction:
                yield
                return
            self._ask(lambda: self._database.execute("begin immediate"))
            try:
                yield
            except BaseException:
                self._database.rollback()
                raise
            self._ask(self._database.commit)

    def list_references(self, pseudonym: bytes) -> list[bytes]:
        """Return the references of all keys of a user that are not erased, sorted."""
        return self._list("reference", "receipt is null", pseudonym)

    def list_receipts(self, pseudonym: bytes) -> list[str]:
        """Return the receipts under which keys of a user were erased, sorted."""
        return self._list("distinct receipt", "receipt is not null", pseudonym)

    def erase(
        self, pseudonym: bytes, seqs: Mapping[bytes, int | None], *, renewed: Iterable[bytes] = ()
    ) -> str:
        """Destroy data keys, and the user's key when none is left; return the receipt.

        ``seqs`` names the keys with the seq of their events; ``renewed`` are destroyed without
        trace, since what they name goes on. Keys erased before keep their receipt.
        """
        parts = [*sorted(seqs), str(time.time_ns()).encode(), secrets.token_bytes(16)]
        receipt = hashlib.sha256(prefix_lengths(*parts)).hexdigest()
        gone = [(reference, pseudonym, receipt, seq) for reference, seq in sorted(seqs.items())]
        with self.together():
            self._change(_ERASE, gone)
            self._change("delete from data_keys where reference = ?", [(r,) for r in renewed])
            self._change(_DROP_USER, [(pseudonym, pseudonym)])
            reach("keys_erasing")
        reach("keys_erased")
        self._change("vacuum")
        reach("keys_vacuumed")
        return receipt

    def rotate(self) -> tuple[int, int]:
        """Give every user a new key and wrap the data keys by it; return users and data keys.

        Sealed records stay as they are. Wrapped copies of keys made before are of no use to
        whoever holds only an old user key.
        """
        keys = 0
        with self.together():
            users = self._ask(
                lambda: self._database.execute(
                    "select pseudonym, tenant, version, wrapped from users order by pseudonym"
                ).fetchall()
            )
            for pseudonym, tenant, version, wrapped in users:
                old = self._unwrap(self._master, wrapped, pseudonym)
                new = secrets.token_bytes(KEY_BYTES)
                keys += self._wrap_again(pseudonym, old, new)
                reach("keys_wrapping")
                self._write_user(tenant, pseudonym, version + 1, new)
            reach("keys_wrapped")
        reach("keys_rotated")
        self._change("vacuum")
        return len(users), keys

    def _wrap_again(self, pseudonym: bytes, old: bytes, new: bytes) -> int:
        rows = self._ask(
            lambda: self._database.execute(
                "select reference, wrapped from data_keys where pseudonym = ? and "
                "wrapped is not null",
                (pseudonym,),
            ).fetchall()
        )
        changed = [
            (_wrap(new, self._unwrap(old, wrapped, reference), reference), reference)
            for reference, wrapped in rows
        ]
        self._change("update data_keys set wrapped = ? where reference = ?", changed)
        return len(changed)

    def _list(self, what: str, which: str, pseudonym: bytes) -> list[Any]:
        asked = f"select {what} from data_keys where pseudonym = ? and {which} order by 1"  # noqa: S608
        rows = self._ask(lambda: self._database.execute(asked, (pseudonym,)).fetchall())
        return [row[0] for row in rows]

    def _find(self, reference: bytes) -> bytes | Erased | None:
        row = self._database.execute(
            "select d.wrapped, d.receipt, d.seq, u.wrapped, d.pseudonym from data_keys d "
            "left join users u on u.pseudonym = d.pseudonym where d.reference = ?",
            (reference,),
        ).fetchone()
        if row is None:
            return None
        wrapped, receipt, seq, user_wrapped, pseudonym = row
        if receipt is not None:
            return Erased(receipt, seq)
        if user_wrapped is None:
            raise KeyStoreFailedError(f"key store {self._folder}: a user's key is gone; restore it")
        user_key = self._unwrap(self._master, user_wrapped, pseudonym)
        return self._unwrap(user_key, wrapped, reference)

    def _obtain_user(self, tenant: str, pseudonym: bytes) -> bytes:
        row = self._ask(
            lambda: self._database.execute(
                "select wrapped from users where pseudonym = ?", (pseudonym,)
            ).fetchone()
        )
        if row is not None:
            return self._unwrap(self._master, row[0], pseudonym)
        key = secrets.token_bytes(KEY_BYTES)
        self._write_user(tenant, pseudonym, 1, key)
        return key

    def _write_user(self, tenant: str, pseudonym: bytes, version: int, key: bytes) -> None:
        self._change(
            "insert or replace into users (pseudonym, tenant, version, wrapped) "
            "values (?, ?, ?, ?)",
            [(pseudonym, tenant, version, _wrap(self._master, key, pseudonym))],
        )

    def _obtain_tenant(self, tenant: str) -> bytes:
        bound = b"tenant\0" + tenant.encode()
        select = "select wrapped from tenants where tenant = ?"
        row = self._database.execute(select, (tenant,)).fetchone()
        if row is None:
            fresh = _wrap(self._master, secrets.token_bytes(KEY_BYTES), bound)
            insert = "insert or ignore into tenants (tenant, wrapped) values (?, ?)"
            self._database.execute(insert, (tenant, fresh))
            row = self._database.execute(select, (tenant,)).fetchone()
        return self._unwrap(self._master, row[0], bound)

    def _naming_key(self) -> bytes:
        return hmac.new(self._master, b"references", hashlib.sha256).digest()

    def _unwrap(self, key: bytes, wrapped: bytes, bound: bytes) -> bytes:
        content = self.decrypt(key, wrapped, [bound])
        if content is None:
            raise KeyStoreFailedError(
                f"key store {self._folder}: a key does not check; restore the store"
            )
        return content

    def _read_master(self) -> bytes:
        path = self._folder / MASTER_NAME
        if not path.exists():
            if (self._folder / DATABASE_NAME).exists():
                raise KeyStoreFailedError(f"{path} is missing beside its database; restore it")
            write_private(path, secrets.token_bytes(KEY_BYTES))
        key = path.read_bytes()
        if len(key) != KEY_BYTES:
            raise KeyStoreFailedError(f"{path} is no master key; restore it")
        return key

    def _change(self, statement: str, rows: Sequence[tuple[object, ...]] | None = None) -> None:
        if rows is None:
            self._ask(lambda: self._database.execute(statement))
        else:
            self._ask(lambda: self._database.executemany(statement, rows))

    def _ask(self, question: Callable[[], R]) -> R:
        try:
            with self._lock:
                return question()
        except sqlite3.Error as error:
            raise KeyStoreFailedError(f"key store {self._folder}: {error}") from None


def _wrap(key: bytes, content: bytes, bound: bytes) -> bytes:
    return AESSIV(key).encrypt(content, [bound])
