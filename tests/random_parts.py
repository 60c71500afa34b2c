"""Parts of drawn histories: the catalogue they run under, and what their events carry."""

from dataclasses import replace

from schemas.candidate import Amendment, Candidate, PatchOperation, SlotValue
from schemas.catalogue import Authority, Catalogue, ObligationTemplate, RequirementWeight
from schemas.observation import Sensitivity, SlotStatement, UnitDraft
from schemas.predicate import PredicateScope
from schemas.value import StringSet
from tests.situations import commitment_type, predicate, scene, slot

SLOTS = ("dish", "diet", "time", "guests")
VALUES = ("soup", "stew", "vegan", "", 3, None, StringSet(("a", "b")), ("x", "y"))
DIMENSIONS = ("allergy", "dish", "mood", "receipt", "text")
TEXTS = (
    'slots.diet == "vegan"',
    'slots.dish != "stew"',
    'slots.dish == "soup" and slots.diet != "meat"',
    "slots.guests <= 4",
    "exists slots.time",
    'slots.dish in ["soup", "stew"]',
    'not (slots.diet == "vegan")',
    "count(slots.guests) >= 1",
)
SCENES = ("dinner", "lunch")


def catalogue():
    """Return two scenes, one of which confirms all it carries and falls back."""
    meal = commitment_type(
        "meal",
        slots=SLOTS,
        required_slots=("dish",),
        opens=(ObligationTemplate("thanks", "receipt", 1_000, ("dinner",)),),
    )
    tasting = replace(
        commitment_type("tasting"),
        slots=(
            slot("dish", grounded_by="any", min_authority=Authority.ASSERTED),
            slot("diet", soft=True),
        ),
    )
    snack = commitment_type(
        "snack",
        required_slots=("dish",),
        confirm_carried=True,
        discharges=("receipt",),
        not_affected_by=("allergy",),
    )
    dinner = scene(
        "dinner",
        commitment_types=("meal", "tasting"),
        weights=(RequirementWeight("slot:dish", 5),),
    )
    lunch = scene(
        "lunch",
        commitment_types=("snack",),
        required_dimensions=("mood",),
        fallback="Ask at the counter.",
    )
    return Catalogue("kitchen", (dinner, lunch), (meal, snack, tasting), ("guests",), ())


def draw_statements(draw):
    """Return one or two statements about the user."""
    names = draw.sample(SLOTS, draw.randint(1, 2))
    return tuple(SlotStatement("", name, draw.choice(VALUES), None, None) for name in names)


def draw_unit(draw):
    """Return a unit, often of cost that no budget of the turns holds."""
    stated = draw.random() < 0.3
    return UnitDraft(
        content=draw.choice(("a note on soup", "allergic to nuts", "window seat")),
        reference=None,
        slot=draw.choice(SLOTS) if stated else None,
        value=draw.choice(VALUES) if stated else None,
        dimensions=tuple(sorted(draw.sample(DIMENSIONS, draw.randint(0, 2)))),
        tail_witness=draw.random() < 0.3,
        sensitivity=draw.choice((Sensitivity.NONE, Sensitivity.MEDIUM)),
        scopes=(),
        cost=draw.choice((None, 0, 5, 12)),
        valid_from_ms=None,
        valid_to_ms=None,
    )


def draw_predicate(draw):
    """Return one of a few predicates; some contradict each other."""
    return predicate(
        draw.choice(("p0", "p1", "p2", "p3")),
        draw.choice(TEXTS),
        scenes=draw.choice(((), ("dinner",), ("lunch",))),
        dimensions=draw.choice(((), (), ("allergy",))),
        scope=draw.choice((PredicateScope.STANDING, PredicateScope.EPISODE)),
    )


def draw_candidate(draw, packet, commitments):
    """Return a candidate for a packet, or for none; it may cite and amend what does not exist."""
    amends, patch = None, ()
    if commitments and draw.random() < 0.2:
        amended = draw.choice(commitments)
        amends = Amendment(amended.commitment_id, amended.version)
        patch = (PatchOperation("dish", draw.choice(("soup", "stew"))),)
    types = ("meal", "snack", "tasting", "none")
    cited = tuple(f"{draw.randint(1, 20)}#0" for _ in range(draw.randint(0, 2)))
    if packet is not None and draw.random() < 0.9:
        cited = tuple(one.unit_id for one in packet.units)
        types = packet.commitment_types
    names = draw.sample(("diet", "dish"), draw.randint(1, 2))
    values = ("soup", "soup", "stew", "vegan", 4)
    slots = tuple(SlotValue(name, draw.choice(values)) for name in sorted(names))
    return Candidate(
        commitment_type=draw.choice(types),
        slots=() if amends else slots,
        amends=amends,
        patch=patch,
        evidence_ids=cited,
        claimed_predicates=(),
        required_slots=(),
        repair_status="",
        surface_text=draw.choice(("", "Soup it is.")),
    )
