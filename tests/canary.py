"""An encrypted log of two users who put one word, the canary, into every payload they send."""

from dataclasses import replace

from rocksdict import DBCompressionType

from infra.appending import append_events
from infra.erasing import EmbeddedErasable, erase
from infra.opening import mark_encrypted, open_embedded
from infra.records import TOPICS
from schemas.agreement import (
    CheckVerdict,
    ObligationOpened,
    PredicateConfirmed,
    PredicateProposed,
    PredicateRevoked,
    VerdictRecorded,
)
from schemas.candidate import Decoding, SlotValue
from schemas.observation import CommitmentObserved, HintKind, OutcomeObserved
from schemas.row import UserHead
from schemas.turn import CandidatesProposed, SurfaceProposed
from streams import row_store
from streams.row_layout import decode_row, row_key
from tests.given import event, evidence, form, genesis, hint, predicate, said, turn, unit
from tests.kitchen import meal

CANARY = "canary7431"
RULE = predicate(f'slots.dish != "{CANARY}"', f"rule-{CANARY}", dimensions=(CANARY,))
OTHER = predicate(f'slots.{CANARY} == "x"', f"other-{CANARY}")


def candidates_of(turn_id, claims=(CANARY,)):
    """Return candidates that carry the canary everywhere."""
    offered = replace(meal(CANARY), surface_text=f"{CANARY} for you", claimed_predicates=claims)
    decoding = Decoding(CANARY, CANARY, CANARY, 0, 1, 1, None)
    return CandidatesProposed(turn_id, None, (offered, meal("soup")), CANARY, decoding, ())


def told_by(user):
    """Return events of a user with the canary in every payload."""
    note = unit(CANARY, dimensions=(CANARY,), reference=CANARY, slot=CANARY, value=CANARY)
    wished = (SlotValue(CANARY, CANARY),)
    payloads = [
        (form(**{CANARY: CANARY, "dish": CANARY}, scopes=(CANARY,)), "user"),
        (said(f"I like {CANARY}"), "user"),
        (turn(), "user"),
        (candidates_of("e3", ()), "generator"),
        (evidence(note, unit(f"more {CANARY}", dimensions=("mood",))), "tool"),
        (hint("diet", CANARY, kind=HintKind.PREFERENCE, sources=("e1",)), "generator"),
        (PredicateProposed(OTHER, (), HintKind.CONSTRAINT), "assistant"),
        (PredicateConfirmed(None, RULE, ()), "user"),
        (ObligationOpened(CANARY, CANARY, None, (CANARY,)), "tool"),
        (CommitmentObserved(CANARY, "dinner", "meal", wished), "tool"),
        (OutcomeObserved("dinner", CANARY, True, (), (), ()), "tool"),
        (VerdictRecorded(CANARY, bytes(32), CheckVerdict.PASS, CANARY), "tool"),
        (turn(text=CANARY, asks=wished, wanted_dimensions=(CANARY,)), "user"),
        (candidates_of("e13"), "generator"),
        (turn(text=CANARY), "user"),
        (candidates_of("e15"), "generator"),
        (SurfaceProposed("e3", f"{CANARY} is served", None), "generator"),
        (PredicateRevoked(f"no-such-{CANARY}"), "user"),
        (turn("no-scene-" + CANARY), "user"),
        (turn(text=f"still open {CANARY}"), "user"),
    ]
    return [
        event(payload, by=f"{kind}:{user}", user=user, event_id=f"e{number}", minute=number)
        for number, (payload, kind) in enumerate(payloads, 1)
    ]


PLAIN_OPTIONS = row_store.build_options


def build_uncompressed():
    """Return the options of a store whose files can be searched: nothing is compressed."""
    options = PLAIN_OPTIONS()
    options.set_compression_type(DBCompressionType.none())
    return options


def make_folder(tmp_path, monkeypatch, *, told=told_by):
    """Return the folder of a folded encrypted log of two users, its keys beside it."""
    monkeypatch.setenv("COMMITMENTS_KEY_STORE", str(tmp_path / "keys"))
    monkeypatch.setattr(row_store, "build_options", build_uncompressed)
    path = tmp_path / "log"
    open_embedded(path).close()
    mark_encrypted(path)
    with open_embedded(path) as embedded:
        append_events(embedded, [genesis(), *told("ada"), *told("bob")])
        embedded.fold_pending()
    return path


def find_canary(*folders):
    """Return the names of all files that contain the canary."""
    return sorted(
        path.name
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and CANARY.encode() in path.read_bytes()
    )


def raw_outputs(folder, user):
    """Return all stored outputs of a user as they stand there."""
    with open_embedded(folder) as embedded, embedded.reading() as store:
        key = embedded.opener.key_of("acme", user)
        return [
            (topic, output.record.key, output.record.value)
            for topic in TOPICS
            for output in store.outputs(topic)
            if output.record.key.startswith(key)
        ]


def read_head(folder, user):
    """Return the head row of a user."""
    with open_embedded(folder) as embedded, embedded.reading() as store:
        prefix = b"u" + embedded.opener.key_of("acme", user)
        return decode_row(UserHead, store.get(row_key(prefix, UserHead, "")))


def erase_user(folder, user="ada", *events):
    """Erase events, or all of a user, as operator."""
    with open_embedded(folder) as embedded:
        return erase(
            EmbeddedErasable(embedded), tenant="acme", user=user, event_ids=events, operator="ops"
        )
