"""The six domains of the fixtures: words for the same structure, and one catalogue over all.

Every domain has one scene and one commitment type. A commitment carries an offer (a record that
must be that of a cited unit), a day, a party and a purpose. No rule and no history stands here.
"""

from dataclasses import dataclass
from typing import Final

from schemas.catalogue import (
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
    TextTemplate,
)

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
PARTY_MAX: Final = 40

QUOTE: Final = "quote"
CLEARANCE: Final = "clearance"
RULED: Final = ("budget", "exclusion", "days")  # What the rules of a scene are about.


@dataclass(frozen=True, slots=True)
class Domain:
    """The words of one domain; ``clearance`` is what its scene always requires evidence of."""

    name: str
    noun: str
    purposes: tuple[str, ...]
    features: tuple[str, ...]
    clearance: str
    debts: tuple[str, ...]

    @property
    def scene(self) -> str:
        """The name of its scene and commitment type."""
        return f"book_{self.name}"

    def own(self, name: str) -> str:
        """Return the dimension of this name that only this domain has."""
        return f"{self.name}.{name}"


DOMAINS: Final = (
    Domain(
        "lodging", "room", ("family", "client visit", "conference"),
        ("bar", "carpet", "feathers", "pool", "smoking", "stairs", "pets"),
        "step-free access certificate", ("deposit", "key_return", "visa_letter"),
    ),
    Domain(
        "catering", "buffet", ("birthday", "board lunch", "wedding"),
        ("nuts", "shellfish", "gluten", "pork", "dairy", "soy", "sesame"),
        "kitchen hygiene record", ("crockery_return", "tasting_fee", "leftover_permit"),
    ),
    Domain(
        "transport", "minibus", ("school trip", "airport run", "match day"),
        ("diesel", "ramp", "trailer", "tow_bar", "sunroof", "luggage_rack", "screen"),
        "driver insurance letter", ("fuel_refill", "damage_report", "toll_payment"),
    ),
    Domain(
        "venue", "hall", ("lecture", "recital", "assembly"),
        ("glass", "basement", "organ", "balcony", "fog", "strobe", "stage"),
        "fire safety statement", ("cleaning", "noise_permit", "key_deposit"),
    ),
    Domain(
        "care", "home visit", ("check-up", "physiotherapy", "wound care"),
        ("latex", "iodine", "morning", "male_nurse", "trainee", "perfume", "video"),
        "consent of the physician", ("prescription_pickup", "insurance_claim", "follow_up"),
    ),
    Domain(
        "purchase", "delivery", ("refurbishment", "workshop", "replacement"),
        ("pvc", "solvent", "glass", "leather", "battery", "magnet", "pallet"),
        "import clearance paper", ("packaging_return", "customs_duty", "warranty_card"),
    ),
)  # fmt: skip


def find_domain(name: str) -> Domain:
    """Return the domain of this name."""
    return next(domain for domain in DOMAINS if domain.name == name)


def build_catalogue(*, name: str = "fixtures", spared: tuple[str, ...] = ()) -> Catalogue:
    """Return the catalogue of all domains; dimensions ``spared`` never bind a commitment.

    A catalogue that spares dimensions requires no evidence from its scenes either: only hard
    predicates and slots are left (the variant ``validator_only``).
    """
    required = () if spared else (QUOTE, CLEARANCE)
    return Catalogue(
        name=name,
        scenes=tuple(_build_scene(domain, required) for domain in DOMAINS),
        types=tuple(_build_type(domain, spared) for domain in DOMAINS),
        set_slots=(),
        templates=(),
    )


def list_dimensions() -> tuple[str, ...]:
    """Return every dimension that a fixture may require evidence of."""
    return (
        QUOTE,
        CLEARANCE,
        *(domain.own(name) for domain in DOMAINS for name in (*RULED, *domain.debts)),
    )


def _build_scene(domain: Domain, required: tuple[str, ...]) -> Scene:
    text = f"{domain.noun} on {{day}} for {{party}}, {{purpose}}"
    return Scene(
        name=domain.scene,
        commitment_types=(domain.scene,),
        required_slots=("offer", "day", "party", "purpose"),
        required_dimensions=required,
        weights=(),
        templates=(TextTemplate(key=domain.scene, language="en", text=text),),
        fallback="",
    )


def _build_type(domain: Domain, spared: tuple[str, ...]) -> CommitmentType:
    return CommitmentType(
        name=domain.scene,
        slots=(
            _declare("offer", SlotType.RECORD, grounded_by="evidence"),
            _declare("day", SlotType.STRING, choices=DAYS),
            _declare("party", SlotType.INT, low=1, high=PARTY_MAX),
            _declare("purpose", SlotType.STRING, choices=domain.purposes),
        ),
        required_slots=(),
        confirm_carried=False,
        opens=(),
        discharges=(),
        not_affected_by=spared,
    )


def _declare(
    name: str,
    slot_type: SlotType,
    *,
    low: int | None = None,
    high: int | None = None,
    choices: tuple[str, ...] = (),
    grounded_by: str = "",
) -> SlotDeclaration:
    return SlotDeclaration(
        name=name,
        slot_type=slot_type,
        optional=False,
        low=low,
        high=high,
        choices=choices,
        grounded_by=grounded_by,
    )
