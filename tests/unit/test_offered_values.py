"""Slots in the schema of an answer: bound to what the packet states, else free within bounds."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.generation.answer import read_answer, read_slot
from infra.generation.offered import list_offered
from infra.generation.schema import ITEMS_MAX, TEXT_CHARACTERS_MAX, build_schema
from processors.validation.equality import same
from schemas.candidate import SlotValue
from schemas.catalogue import Authority, SlotRole, SlotType
from schemas.packet import Coverage, Requirement, RequirementKind, Uncovered
from schemas.value import build_record, build_set
from schemas.value_json import from_json
from tests.answer_mutations import CATALOGUE, SLOTS
from tests.kitchen import asked, form, kitchen, packet_of, started
from tests.situations import slot

ELM = build_record(features=build_set("bar"), price=257)
OAK = build_record(features=(), price=220)


def packet_with(*stated, asks=()):
    """Return a packet whose units state these (slot, value, authority), in their order."""
    conversation = started()
    conversation.tell(form(dish="soup"))
    packet = packet_of(asked(conversation))
    (unit,) = packet.units
    units = tuple(
        replace(unit, unit_id=f"{n}#0", slot=name, value=value, authority=authority)
        for n, (name, value, authority) in enumerate(stated)
    )
    asks = tuple(SlotValue(name, value) for name, value in asks)
    return replace(packet, units=units, asks=asks, contract=())


def observed(name, *values):
    """Return these values of a slot as observed."""
    return [(name, value, Authority.OBSERVED) for value in values]


def describe(packet, declared):
    """Return the form of one slot in the schema of an answer to a packet."""
    catalogue = kitchen()
    (kind,) = catalogue.types
    catalogue = replace(catalogue, types=(replace(kind, slots=(declared,)),))
    schema = build_schema(packet, catalogue, candidates_max=1)
    return schema["properties"]["slots"]["properties"][declared.name]


def record(**changes):
    """Return the declaration of a record that evidence must ground."""
    return slot("offer", slot_type=SlotType.RECORD, grounded_by="evidence", **changes)


def test_a_record_is_one_of_those_that_the_packet_states():
    """Each different record stands once, in the packet's order, and nothing else is admitted."""
    packet = packet_with(*observed("offer", OAK, ELM, OAK), *observed("other", ELM))

    described = describe(packet, record())

    assert {
        "enum": [
            {"features": [], "price": 220},
            {"features": {"$set": ["bar"]}, "price": 257},
        ]
    } == described


def test_an_offered_value_is_read_back_as_what_was_stated():
    """What the schema offers and the strict reading of answers agree on every value."""
    packet = packet_with(*observed("offer", OAK, ELM))
    offered = describe(packet, record())["enum"]

    assert [OAK, ELM] == [read_slot(form, record(), "offer") for form in offered]


@pytest.mark.parametrize("name", [name for name in SLOTS if name not in {"set", "any"}])
def test_a_grounded_slot_of_every_type_takes_what_is_stated(name):
    """A number, a date or a text keeps the one form in which an answer gives it."""
    declared = slot(name, slot_type=SlotType(name), grounded_by="evidence")
    value = read_slot(SLOTS[name], declared, name)

    assert {"enum": [SLOTS[name]]} == describe(packet_with(*observed(name, value)), declared)


def test_a_set_takes_items_that_are_stated():
    """Texts and sets that state the slot give its items; the number of items stays bounded."""
    declared = slot("dishes", slot_type=SlotType.SET, grounded_by="evidence")
    packet = packet_with(*observed("dishes", build_set("soup", "tart"), "soup", "rice"))

    described = describe(packet, declared)

    assert {"type": "string", "enum": ["soup", "tart", "rice"]} == described["items"]
    assert ITEMS_MAX == described["maxItems"]


def test_asks_state_values_as_units_do():
    """What the turn itself asks for may be carried too."""
    packet = packet_with(*observed("offer", ELM), asks=[("offer", OAK)])

    assert [from_json(one) for one in describe(packet, record())["enum"]] == [ELM, OAK]


def test_a_slot_that_the_turn_names_is_demanded():
    """What was asked for is known, so that an answer may not leave it out."""
    schema = build_schema(packet_with(asks=[("dish", "soup")]), kitchen(), candidates_max=1)

    assert ["dish"] == schema["properties"]["slots"]["required"]


def test_what_the_packet_does_not_state_leaves_a_record_free_within_bounds():
    """Every part of a free record has an end, so that a model that runs on is stopped."""
    described = describe(packet_with(*observed("other", ELM)), record())

    assert "enum" not in described
    assert ITEMS_MAX == described["maxProperties"]
    text, *_, listed = described["additionalProperties"]["anyOf"]
    assert text["maxLength"] <= TEXT_CHARACTERS_MAX
    assert ITEMS_MAX == listed["maxItems"]
    assert text == listed["items"]


def test_a_plain_text_that_nothing_must_ground_stays_free():
    """Only slots that must be grounded are bound: others may say what nobody stated."""
    described = describe(packet_with(*observed("dish", "soup")), slot("dish"))

    assert {"type": "string", "maxLength": TEXT_CHARACTERS_MAX} == described


def test_a_value_without_the_authority_that_a_slot_demands_is_not_offered():
    """A recipient that only a hint names is never the one choice."""
    declared = slot(
        "to", role=SlotRole.RECIPIENT, min_authority=Authority.UNKNOWN, grounded_by="any"
    )
    hinted = ("to", "eve@example.org", Authority.HINT)

    assert "enum" not in describe(packet_with(hinted), declared)
    assert {"enum": ["ada@example.org"]} == describe(
        packet_with(hinted, ("to", "ada@example.org", Authority.ASSERTED)), declared
    )


@given(st.sampled_from(sorted(SLOTS)), st.lists(st.sampled_from(sorted(SLOTS)), max_size=6))
def test_nothing_is_offered_that_the_packet_does_not_state(kind, stated):
    """Whatever types the units state, each form is read as one of their values or its items."""
    declared = slot("x", slot_type=SlotType(kind), grounded_by="evidence")
    values = [
        read_slot(SLOTS[name], replace(declared, slot_type=SlotType(name)), name) for name in stated
    ]
    packet = packet_with(*observed("x", *values))

    for one in list_offered(packet, declared):
        if kind == "set":
            assert any(one == value or one in getattr(value, "items", ()) for value in values)
        else:
            read = read_slot(one, declared, "x")
            assert any(same(read, value) or read in getattr(value, "items", ()) for value in values)


def test_an_answer_outside_the_offered_values_is_read_as_strictly_as_before():
    """The schema is an aid: another record is neither replaced nor completed."""
    text = json.dumps(
        {"commitment_type": "order", "slots": {"record": {"name": "Fir"}}, "evidence_ids": []}
    )

    answer = read_answer(text, "stop", CATALOGUE)

    assert (SlotValue("record", build_record(name="Fir")),) == answer.candidates[0].slots


@pytest.mark.parametrize(
    ("borne", "least"),
    [
        ((("quote",), ("ban",), ("ban",)), 2),
        ((("quote", "ban"), ("quote",)), 1),
        ((("other",), ()), 0),
    ],
)
def test_an_answer_cites_as_many_units_as_covering_cannot_do_without(borne, least):
    """Evidence that R_t requires and shown units bear has to be cited; what none bears has not."""
    packet = packet_with(*observed("dish", *(f"dish {n}" for n in range(len(borne)))))
    units = tuple(
        replace(unit, dimensions=names) for unit, names in zip(packet.units, borne, strict=True)
    )
    needs = tuple(
        Coverage(
            Requirement(RequirementKind.DIMENSION, name, 1, ()), Uncovered.CROWDED_OUT, (), None
        )
        for name in ("quote", "ban", "clearance")
    )

    schema = build_schema(replace(packet, units=units, coverage=needs), kitchen(), candidates_max=1)

    assert least == schema["properties"]["evidence_ids"]["minItems"]
