"""Small annotated dialogues in the shape of Schema-Guided Dialogue, for tests of its importer.

One service, one dialogue; acts, turns and whole courses of a booking are built by name.
"""

import gzip
import json

from infra.importers.sgd import import_sgd

SCHEMA = [
    {
        "service_name": "Tables_1",
        "slots": [
            {"name": "time", "is_categorical": False, "possible_values": []},
            {"name": "place", "is_categorical": False, "possible_values": []},
            {"name": "seats", "is_categorical": True, "possible_values": ["1", "2", "3"]},
        ],
        "intents": [
            {
                "name": "Reserve",
                "is_transactional": True,
                "required_slots": ["place", "time"],
                "optional_slots": {"seats": "2"},
            },
            {
                "name": "Find",
                "is_transactional": False,
                "required_slots": ["place"],
                "optional_slots": {},
            },
        ],
    }
]


def act(name, slot="", value=None, said=None):
    """One act; ``said`` is its spelling where that differs from the canonical value."""
    values = [] if value is None else [value]
    spelt = [said] if said is not None else values
    return {"act": name, "slot": slot, "canonical_values": values, "values": spelt}


def user(*acts, state, intent="Reserve", text="words", slots=()):
    """A user's turn in the one service."""
    frame = {
        "service": "Tables_1",
        "actions": list(acts),
        "slots": list(slots),
        "state": {"active_intent": intent, "slot_values": {k: [v] for k, v in state.items()}},
    }
    return {"speaker": "USER", "utterance": text, "frames": [frame]}


def system(*acts, call=None, rows=()):
    """A system's turn in the one service."""
    frame = {"service": "Tables_1", "actions": list(acts), "slots": []}
    if call is not None:
        frame["service_call"] = {"method": "Reserve", "parameters": call}
        frame["service_results"] = list(rows)
    return {"speaker": "SYSTEM", "utterance": "words", "frames": [frame]}


ASKED = [
    user(act("INFORM", "time", "19:00", "7 pm"), state={"time": "7 pm"}),
    system(act("REQUEST", "place")),
]
SHOWN = [
    *ASKED,
    user(act("INFORM", "place", "Sino"), state={"time": "7 pm", "place": "Sino"}),
    system(act("CONFIRM", "place", "Sino"), act("CONFIRM", "time", "19:00")),
]
CALL = {"place": "Sino", "time": "19:00"}
BOOKED = [
    *SHOWN,
    user(act("AFFIRM"), state={"time": "7 pm", "place": "Sino"}),
    system(act("NOTIFY_SUCCESS"), call=CALL, rows=[{"place": "Sino", "phone": "1"}]),
]
REFUSED = [
    *SHOWN,
    user(act("AFFIRM"), state={"time": "7 pm", "place": "Sino"}),
    system(
        act("NOTIFY_FAILURE"), act("OFFER", "time", "20:00"), call=CALL, rows=[{"time": "20:00"}]
    ),
]
OVERWRITTEN = [
    *SHOWN,
    user(act("NEGATE"), act("INFORM", "time", "21:00"), state={"time": "21:00", "place": "Sino"}),
    system(act("CONFIRM", "place", "Sino"), act("CONFIRM", "time", "21:00")),
    user(act("AFFIRM"), state={"time": "21:00", "place": "Sino"}),
    system(act("NOTIFY_SUCCESS"), call={"place": "Sino", "time": "21:00"}),
]


def write_dialogue(folder, turns):
    """Write one dialogue beside the schema and return the folder."""
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    dialogue = {"dialogue_id": "d1", "services": ["Tables_1"], "turns": turns}
    with gzip.open(folder / "dialogues_001.json.gz", "wt") as file:
        json.dump([dialogue], file)
    return folder


def read(folder, kind, candidates=frozenset({"gold"})):
    """Return the payloads of one kind in log order."""
    events = import_sgd([folder], candidates)
    return [event.payload for event in events if isinstance(event.payload, kind)]


def carried(payload):
    """Return what the one candidate carries."""
    (candidate,) = payload.candidates
    return {slot.name: slot.value for slot in candidate.slots}
