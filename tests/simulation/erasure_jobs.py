"""What a process of a crash test does with an encrypted log: tell it, erase, rotate keys, look."""

import os
from pathlib import Path
from typing import Any

from infra.appending import append_events
from infra.audit.replay import replay
from infra.erasing import CONTROL_KEY, EmbeddedErasable, erase
from infra.key_store import FileKeyStore
from infra.opening import mark_encrypted, open_embedded
from infra.records import TOPICS, read_output
from infra.unfinished_erasure import list_unfinished_erasures
from schemas.control import ErasureCompleted
from schemas.row import UserHead
from streams import row_store
from streams.row_layout import decode_row, row_key
from tests.canary import build_uncompressed, find_canary, told_by
from tests.given import event, form, genesis, turn
from tests.kitchen import candidates, meal

SEARCHED = ("log", "ledgers", "rows")


def tell_canary(path: str, keys: str) -> None:
    """Begin an encrypted log on which ada puts the canary everywhere and bob orders soup."""
    _use(keys)
    folder = Path(path)
    open_embedded(folder).close()
    mark_encrypted(folder)
    order = [
        event(form(dish="soup"), user="bob", by="user:bob", event_id="b1", minute=1),
        event(turn(), user="bob", by="user:bob", event_id="b2", minute=2),
        event(candidates(meal("soup"), turn="b2"), user="bob", by="generator:m", event_id="b3",
              minute=3),
    ]  # fmt: skip
    with open_embedded(folder) as embedded:
        append_events(embedded, [genesis(), *told_by("ada"), *order])
        embedded.fold_pending()


def erase_ada(path: str, keys: str, events: list[str]) -> None:
    """Erase ada, or some of her events."""
    _use(keys)
    with open_embedded(Path(path)) as embedded:
        erase(
            EmbeddedErasable(embedded),
            tenant="acme",
            user="ada",
            event_ids=tuple(events),
            operator="ops",
        )


def rotate(keys: str) -> None:
    """Give every user a new key."""
    _use(keys)
    store = FileKeyStore(Path(keys))
    store.rotate()
    store.close()


def look(path: str, keys: str) -> dict[str, Any]:
    """Return what there is to see: keys and rows of ada, canaries, the outputs of all, replay."""
    _use(keys)
    folder = Path(path)
    with open_embedded(folder) as embedded:
        embedded.fold_pending()
        report = replay(embedded, lambda _done, _left: None)
        store = embedded.opener.keys
        ada = embedded.opener.pseudonym_of("acme", "ada")
        with embedded.reading() as rows:
            prefix = b"u" + embedded.opener.key_of("acme", "ada")
            head = decode_row(UserHead, rows.get(row_key(prefix, UserHead, "")))
        receipts = {
            opened.payload.receipt
            for record in embedded.log.read(0, limit=1_000)
            if record.key == CONTROL_KEY
            and isinstance((opened := embedded.opener.open(record).event).payload, ErasureCompleted)
        }
        shown = {"ada": [], "bob": []}
        for topic in TOPICS:
            for output in embedded.outputs(topic):
                user = getattr(read_output(topic, output.record.value), "user", "")
                if user in shown:
                    shown[user].append(f"{topic} {output.record.value.hex()}")
        return {
            "clean": report.clean,
            "keys": len(store.list_references(ada)),
            "units": head.units,
            "unfinished": len(list_unfinished_erasures(embedded)),
            "unrecorded": sorted({*store.list_receipts(ada)} - receipts),
            "canary": find_canary(*(folder / name for name in SEARCHED), Path(keys)),
            **shown,
        }


def _use(keys: str) -> None:
    os.environ["COMMITMENTS_KEY_STORE"] = keys
    row_store.build_options = build_uncompressed


ERASURE_JOBS = {job.__name__: job for job in (tell_canary, erase_ada, rotate, look)}
