"""What the extractor finds in annotated dialogues: precision and recall by kind of slot.

Only the text of the user's turns is read; the annotated acts are the yardstick. A slot counts
where its service is one of the dialogue's, which is what a turn's scene would tell.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infra.extraction.extraction import extract
from infra.extraction.lexicon import Lexicon, build_lexicon
from infra.importers.sgd import BEGIN_MS, TENANT
from infra.importers.sgd_files import find_sources, read_dialogues
from infra.importers.sources import find_file, read_json
from schemas.catalogue import (
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
)
from schemas.event import Event, Principal, PrincipalKind
from schemas.observation import HintExtracted, HintKind, UtteranceObserved, UtteranceOrigin


def measure(folder: Path) -> dict[str, Any]:
    """Return, per kind of slot, what was proposed, annotated, and both; and texts per second."""
    lexicons = {name: _build(service) for name, service in _read_services(folder)}
    counts: dict[str, Counter[str]] = {}
    texts = 0
    seconds = 0.0
    for service, said, gold in _list_turns(folder):
        lexicon = lexicons[service]
        kinds = {slot.name: slot.kind.value for slot in lexicon.slots}
        started = time.perf_counter()
        events = extract(_utter(said), lexicon)
        seconds += time.perf_counter() - started
        texts += 1
        hints = [one.payload for one in events if isinstance(one.payload, HintExtracted)]
        found = {
            hint.slot: str(hint.value).casefold()
            for hint in hints
            if hint.kind is HintKind.SLOT and not hint.subject
        }
        for slot, value in found.items():
            _count(counts, kinds[slot], "proposed", value in gold.get(slot, ()))
        for slot in gold:
            _count(counts, kinds[slot], "annotated", slot in found)
    return {"texts": texts, "texts_per_second": round(texts / seconds), "by_kind": _sum(counts)}


def _count(counts: dict[str, Counter[str]], kind: str, what: str, right: bool) -> None:  # noqa: FBT001
    counter = counts.setdefault(kind, Counter())
    counter[what] += 1
    if what == "proposed":
        counter["right"] += right


def _sum(counts: Mapping[str, Counter[str]]) -> dict[str, dict[str, Any]]:
    table = {}
    for kind, counter in sorted(counts.items()):
        right, proposed, annotated = counter["right"], counter["proposed"], counter["annotated"]
        table[kind] = {
            "right": right,
            "proposed": proposed,
            "annotated": annotated,
            "precision": f"{right / proposed:.3f}" if proposed else "none proposed",
            "recall": f"{right / annotated:.3f}" if annotated else "none annotated",
        }
    return table


def _list_turns(folder: Path) -> Iterator[tuple[str, str, dict[str, set[str]]]]:
    """Yield service, text and annotated slots of each user turn in one service."""
    for dialogue in read_dialogues(find_sources([folder])):
        for turn in dialogue["turns"]:
            if turn["speaker"] != "USER" or len(turn["frames"]) != 1:
                continue
            (frame,) = turn["frames"]
            gold: dict[str, set[str]] = {}
            for act in frame["actions"]:
                if act["act"] == "INFORM" and act["slot"] not in {"", "intent"}:
                    spellings = [*act["canonical_values"], *act["values"]]
                    gold[act["slot"]] = {text.casefold() for text in spellings}
            yield frame["service"], turn["utterance"], gold


def _read_services(folder: Path) -> Iterator[tuple[str, Any]]:
    for service in read_json(find_file(folder, "schema.json")):
        yield service["service_name"], service


def _build(service: Any) -> Lexicon:
    """Return the lexicon of the slots that some intent of a service takes."""
    taken = {
        slot
        for intent in service["intents"]
        for slot in (*intent["required_slots"], *intent["optional_slots"])
    }
    slots = tuple(
        SlotDeclaration(slot["name"], SlotType.STRING, choices=tuple(slot["possible_values"]))
        for slot in service["slots"]
        if slot["name"] in taken
    )
    declared = CommitmentType("all", slots, (), confirm_carried=False, opens=(), discharges=(),
                              not_affected_by=())  # fmt: skip
    scene = Scene("all", ("all",), (), (), (), (), "")
    return build_lexicon(Catalogue("one", (scene,), (declared,), (), ()))


def _utter(text: str) -> Event:
    return Event(
        "e1", TENANT, "u", BEGIN_MS, 0, None, Principal(PrincipalKind.USER, "u"), None, None, None,
        (), None, None, UtteranceObserved(text, UtteranceOrigin.SAID, "en", ()),
    )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of SGD files with schema.json")
    print(json.dumps(measure(parser.parse_args().folder), indent=2))
