"""Outputs of models made for tests: good answers of every slot type, and ways to break them.

``mutate`` does to a text what streams, decoders and models do: cut, doubled, swapped, wrapped,
spliced. ``restate`` says a candidate again as the plain JSON that it must have been read from.
"""

import json
import random
import re
from decimal import Decimal

from schemas.catalogue import Catalogue, SlotType
from schemas.value import RecordValue
from schemas.value_json import to_json
from tests.lcv import typed
from tests.situations import slot

CATALOGUE = Catalogue(
    "all",
    (),
    (
        typed(
            "order",
            *(
                slot(kind.value, slot_type=kind)
                for kind in SlotType
                if kind is not SlotType.UNKNOWN
            ),
        ),
    ),
    (),
    (),
)
SLOTS = {
    "string": "noodles, “hot” } ]",
    "bool": False,
    "int": -3,
    "decimal": "250.00",
    "money": "95.00 EUR",
    "date": "2026-03-01",
    "time": "18:30",
    "local": "2026-03-01T18:30",
    "timestamp": 1_770_737_400_000,
    "elapsed": 3_600_000,
    "period": "P30D",
    "record": {"street": "Nordstr. 3", "floor": 2},
    "list": ["rice", {"tofu": True}, [1]],
    "set": ["a", "b"],
    "any": {"$decimal": "4.50"},
}
FRAGMENTS = (
    "{", "}", "[", "]", '"', ":", ",", "\\", "\\u0000", "\\ud800", "\u202e", "\0", "NaN",
    "-Infinity",
    "1e5", "0.1", "null", "true", "// x\n", "/* x */", "<think>", "</think>", "```json\n", "```",
    '"slots":{}', '"slots":{"bool":true},', '"repair_status":"ok",', '"candidates":[', "'", "\n",
    '{"commitment_type":"order","slots":{"bool":true},"evidence_ids":[]}', "9" * 30, "[" * 40,
    '"evidence_ids":["9#0"],', "\ufeff", "{policy}", "[1]",
)  # fmt: skip


def build_text(rng: random.Random, *, sure: tuple[str, ...] = ()) -> str:
    """Return the text of one good answer that carries the slots that are ``sure``, and others."""
    candidates = [_build_candidate(rng, sure) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    data = candidates[0] if len(candidates) == 1 else {"candidates": candidates}
    text = json.dumps(data, ensure_ascii=rng.random() < 0.3, indent=rng.choice((None, None, 1)))
    before = rng.choice(("", "", "Under {policy}, see [1]: ", "```json\n", "<think>{x</think>"))
    return before + text + rng.choice(("", "", "\n```", "\nThat is all."))


def _build_candidate(rng: random.Random, sure: tuple[str, ...]) -> dict:
    names = dict.fromkeys((*sure, *rng.sample(sorted(SLOTS), rng.randint(0, 6))))
    data = {
        "commitment_type": "order",
        "slots": {name: SLOTS[name] for name in names},
        "evidence_ids": rng.sample(["1#0", "2#0", "3#1"], rng.randint(0, 2)),
    }
    if rng.random() < 0.2:
        data.pop("slots")
        data["amends"] = {"commitment_id": "c1", "version": 2}
        data["patch"] = {"string": "soup", "list[0]": "rice"}
    if rng.random() < 0.3:
        data["surface_text"] = "Done."
    if rng.random() < 0.2:
        data["claimed_predicates"] = ["no-peanut"]
    return data


def mutate(text: str, rng: random.Random) -> str:
    """Return the text with one to four wounds."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.randint(1, 12))
        piece = rng.choice(FRAGMENTS)
        match rng.randrange(8):
            case 0:
                text = text[:start]
            case 1:
                text = text[:start] + text[end:]
            case 2:
                text = text[:start] + piece + text[start:]
            case 3:
                text = text[:start] + piece + text[end:]
            case 4:
                text = text[:end] + text[start:]
            case 5:
                text += text[start:]
            case 6:
                text = piece + text
            case _:
                text = (
                    text[:start]
                    + chr(rng.choice((0, 9, 34, 92, 123, 125, 0x202E, 0xFF02)))
                    + text[end:]
                )
    return text


def restate(candidate) -> dict:
    """Return what the JSON of a candidate must have said, with empty optional parts left out."""
    data = {
        "commitment_type": candidate.commitment_type,
        "evidence_ids": list(candidate.evidence_ids),
    }
    if candidate.amends is None:
        data["slots"] = {one.name: _say(one.value) for one in candidate.slots}
    else:
        data["amends"] = {
            "commitment_id": candidate.amends.commitment_id,
            "version": candidate.amends.version,
        }
        data["patch"] = {one.path: _say(one.value) for one in candidate.patch}
    for name in ("claimed_predicates", "required_slots", "repair_status", "surface_text"):
        said = getattr(candidate, name)
        if said:
            data[name] = list(said) if isinstance(said, tuple) else said
    return data


def _say(value):
    return to_json(value) if not isinstance(value, RecordValue) else dict(to_json(value))


def bare(data):
    """Return plain JSON to compare: tags taken off, numbers in texts in plain digits."""
    if isinstance(data, str):
        if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]{1,2}", data):
            data = format(Decimal(data), "f")
        return re.sub(r"(?<![0-9.])-?0+(?=[0-9])", "", data).replace("-0", "0")
    if isinstance(data, dict):
        if len(data) == 1 and next(iter(data)).startswith("$"):
            (inner,) = data.values()
            return sorted(inner) if isinstance(inner, list) else bare(inner)
        return {name: bare(item) for name, item in data.items()}
    return [bare(item) for item in data] if isinstance(data, list) else data
