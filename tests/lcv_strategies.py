"""Hypothesis strategies for validation: situations of one scene and candidates for it.

Values are few and collide, so that statements, predicates and candidates meet.
"""

from dataclasses import replace

from hypothesis import strategies as st

from schemas.candidate import SlotValue
from schemas.catalogue import Authority, ObligationTemplate, SlotRole, SlotType
from schemas.observation import Alternative, HintKind
from schemas.row import EpisodeRow, ObligationRow, QuestionRow, TouchRow
from schemas.value import RecordValue, build_record
from tests.lcv import amendment, candidate, commitment, confirmed, contract, state, typed
from tests.situations import predicate, proposal, request, scene, situation, slot, unit

SLOTS = ("diet", "dish", "guests", "tags", "place")
DISHES = ("gado-gado", "tofu rice", "hotpot")

EXPRESSIONS = (
    'slots.diet == "vegan"',
    'slots.dish != "hotpot"',
    'slots.dish in ["gado-gado", "tofu rice"]',
    "slots.guests <= 4",
    "slots.guests >= 6",
    "slots.guests == 5",
    'slots.tags excludes "peanut"',
    'all t in slots.tags: t != "soy"',
    'slots.place.city == "Rome"',
    'attested("policy-7")',
    "slots.guests <= state.seats",
    "exists(slots.dish)",
    'slots.dish == "hotpot" or slots.guests < 3',
    'unit.menu == "tofu rice"',
)

values = {
    "diet": st.sampled_from(["vegan", "vegan", "halal", "", None]),
    "dish": st.sampled_from([*DISHES, *DISHES, "Hotpot", "", None]),
    "guests": st.sampled_from([2, 4, 5, 5, 6, 7, "4", True, None]),
    "tags": st.sampled_from([("mild",), ("mild",), ("soy",), ("peanut", "soy"), (), "soy", None]),
    "place": st.sampled_from([build_record(city="Rome")] * 3 + [RecordValue(()), None]),
}
names = st.sampled_from(SLOTS)


def rarely(*others, usual):
    """Return a strategy that gives the usual value four times in five."""
    return st.sampled_from([usual] * (4 * len(others)) + list(others))


authorities = st.sampled_from([Authority.INFERRED, Authority.OBSERVED, Authority.ASSERTED])


@st.composite
def slot_values(draw):
    """Return one slot with one of its values."""
    name = draw(names)
    return SlotValue(name, draw(values[name]))


@st.composite
def candidates(draw):
    """Return a candidate, well formed or not."""
    kind = draw(st.sampled_from(["plain"] * 9 + ["amends", "stale", "odd"]))
    cites = draw(rarely((), ("9#9",), ("2#0",), usual=("1#0", "2#0")))
    if kind in {"amends", "stale"}:
        path = draw(st.sampled_from(["dish", "guests", "place.city", "tags[0]", "tags[9]", "x."]))
        value = draw(st.sampled_from(["hotpot", 4, "Rome", None]))
        version = 2 if kind == "stale" else 1
        return replace(amendment("c1", version, **{path: value}), evidence_ids=tuple(cites))
    carried = draw(rarely((), SLOTS[:2], SLOTS[2:], usual=SLOTS))
    filled = {name: draw(values[name]) for name in carried}
    text = draw(st.sampled_from(["", "Booked hotpot.", "A table for 7 guests", "Enjoy!"]))
    made = candidate(cites=cites, text=text, **filled)
    if kind == "odd":
        changes = draw(
            st.sampled_from(
                [
                    {"commitment_type": "flight"},
                    {"repair_status": "clarify"},
                    {"claimed_predicates": ("p0",)},
                    {"slots": (*made.slots, SlotValue("ghost", 1))},
                    {"slots": (*made.slots, *made.slots)},
                ]
            )
        )
        made = replace(made, **changes)
    return made


@st.composite
def types(draw):
    """Return the type ``meal``, its declarations varied."""
    grounded = draw(rarely("state", "evidence:menu", "any", usual=""))
    return typed(
        "meal",
        slot("diet", soft=draw(st.booleans())),
        slot("dish", grounded_by=grounded, min_authority=Authority.UNKNOWN),
        slot("guests", slot_type=SlotType.INT, low=draw(st.sampled_from([None, 1])), high=None),
        slot("tags", slot_type=SlotType.LIST),
        slot(
            "place",
            slot_type=SlotType.RECORD,
            role=draw(rarely(SlotRole.URL, usual=SlotRole.PLAIN)),
            min_authority=Authority.UNKNOWN,
        ),
        required_slots=draw(rarely(("dish",), ("dish", "guests"), usual=())),
        confirm_carried=draw(rarely(True, usual=False)),
        opens=draw(st.sampled_from([(), (ObligationTemplate("report", "menu", 1_000, ()),)])),
        discharges=draw(st.sampled_from([(), ("allergy",)])),
    )


@st.composite
def contracts(draw):
    """Return h_t: some predicates, confirmed in order, some with exception or predecessor."""
    chosen = draw(st.lists(st.sampled_from(EXPRESSIONS), max_size=3, unique=True))
    items = []
    for at, expression in enumerate(chosen):
        unless = draw(st.sampled_from([None, None, 'slots.diet == "halal"']))
        made = predicate(
            f"p{at}",
            expression,
            unless=unless,
            dimensions=draw(st.sampled_from([(), (), ("allergy",)])),
        )
        before = draw(st.sampled_from([None, predicate(f"p{at}", "slots.guests <= 9")]))
        items.append(confirmed(made, at + 1, before))
    return contract(*items)


@st.composite
def episodes(draw):
    """Return the episode of the scene."""
    return EpisodeRow(
        questions=draw(rarely(8, usual=0)),
        started_seq=0,
        last_commitment_id=draw(st.sampled_from([None, "c1"])),
        failed_seq=draw(rarely(5, usual=None)),
        confirmed_seq=draw(st.sampled_from([0, 7])),
        ambiguous_seq=draw(rarely(6, usual=None)),
    )


@st.composite
def debts(draw):
    """Return an open obligation that blocks the scene or nothing."""
    blocks = draw(rarely(("dinner",), usual=()))
    return ObligationRow("allergy", None, blocks, "e1", 1, None)


@st.composite
def situations(draw):
    """Return a situation in which all that validation reads may occur."""
    told = draw(st.lists(slot_values(), max_size=3, unique_by=lambda one: one.name))
    known = [*told, *draw(st.lists(slot_values(), max_size=2, unique_by=lambda one: one.name))]
    open_ones = draw(rarely(EXPRESSIONS[:1], EXPRESSIONS[4:6], usual=()))
    kinds = st.sampled_from([HintKind.CONSTRAINT, HintKind.SLOT, HintKind.PREFERENCE])
    in_scene = scene(
        required_slots=draw(rarely(("guests",), ("place",), usual=())),
        required_dimensions=draw(rarely(("menu",), ("allergy",), usual=())),
        fallback=draw(st.sampled_from(["", "Please call the restaurant."])),
    )
    asked = draw(st.lists(slot_values(), max_size=1))
    alternatives = (Alternative((SlotValue("guests", 5),)),)
    return replace(
        situation(
            types=(draw(types()),),
            in_scene=in_scene,
            asked=request(asks=tuple(asked), text="a table for us"),
            units=tuple(
                unit(
                    f"{seq}#0",
                    (draw(rarely("text", usual=dimension)),),
                    slot="menu",
                    value=draw(values["dish"]),
                )
                for seq, dimension in ((1, "menu"), (2, "allergy"))
            ),
        ),
        contract=draw(contracts()),
        slots={("", one.name): state(one.value, draw(authorities)) for one in known},
        stated={("", one.name): (state(one.value),) for one in told},
        preferences={("", "diet"): (state("vegan", Authority.INFERRED), 600_000)},
        proposals=tuple(
            proposal(predicate(f"q{at}", text), kind=draw(kinds))
            for at, text in enumerate(open_ones)
        ),
        obligations=(("debt", draw(debts())),),
        questions=draw(
            st.sampled_from(
                [
                    (),
                    (("q", QuestionRow("k", "dinner", "", ("dish",), (), "t", 4, "open")),),
                ]
            )
        ),
        touches=draw(st.sampled_from([{}, {"slot:\0dish": TouchRow(6)}])),
        commitments={
            "c1": commitment(
                dish="tofu rice",
                tags=("mild",),
                place=build_record(city="Rome"),
                alternatives=alternatives,
            )
        },
        episode=draw(episodes()),
        incomplete=draw(st.sampled_from([False] * 30 + [True])),
        halted=draw(st.sampled_from([False] * 30 + [True])),
    )
