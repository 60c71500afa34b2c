"""What a control record may put in force: a sound catalogue, weights and budgets (spec 1.7, 3.4).

A fault in it is refused where it stands; turns are then decided without asking again. Who may
send such a record is ``permissions``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields

from processors.activation.problem import COST_MAX, WEIGHT_MAX
from processors.activation.selectors import SELECTORS
from processors.compilation.refusal import Refusal, violate
from schemas.catalogue import Catalogue
from schemas.event import CatalogueActivated, ControlPayload, Genesis, UserPayload


def check_declaration(payload: ControlPayload | UserPayload) -> Refusal | None:
    """Refuse a genesis or a catalogue that no turn could be decided under; else None."""
    match payload:
        case Genesis():
            problems = (*_find_regime(payload), *_find_catalogue(payload.catalogue))
        case CatalogueActivated():
            problems = (*_find_catalogue(payload.catalogue),)
        case _:
            return None
    return violate(problems[0]) if problems else None


def _find_regime(genesis: Genesis) -> Iterator[str]:
    if genesis.partitions < 1:
        yield "partitions: at least 1"
    for name in ("budget_main", "budget_tail"):
        amount = getattr(genesis, name)
        if not 0 <= amount <= COST_MAX:
            yield f"{name}: {amount}; from 0 to {COST_MAX}"
    for field in fields(genesis.weights):
        weight = getattr(genesis.weights, field.name)
        if not 0 <= weight <= WEIGHT_MAX:
            yield f"weights.{field.name}: {weight}; from 0 to {WEIGHT_MAX}"
    if genesis.selector not in SELECTORS:
        yield f"selector: {genesis.selector!r}; one of {', '.join(sorted(SELECTORS))}"
    if genesis.deadline_ms < 1:
        yield f"deadline_ms: {genesis.deadline_ms}; at least 1"


def _find_catalogue(catalogue: Catalogue) -> Iterator[str]:
    yield from _find_repeats("scenes", (scene.name for scene in catalogue.scenes))
    yield from _find_repeats("types", (declared.name for declared in catalogue.types))
    for declared in catalogue.types:
        place = f"types.{declared.name}.slots"
        yield from _find_repeats(place, (slot.name for slot in declared.slots))
    known = {declared.name for declared in catalogue.types}
    for scene in catalogue.scenes:
        for name in scene.commitment_types:
            if name not in known:
                yield f"scenes.{scene.name}.commitment_types: {name!r} is no declared type"
        for item in scene.weights:
            if not 1 <= item.weight <= WEIGHT_MAX:
                place = f"scenes.{scene.name}.weights.{item.requirement}"
                yield f"{place}: {item.weight}; from 1 to {WEIGHT_MAX}"


def _find_repeats(place: str, names: Iterable[str]) -> Iterator[str]:
    for name, count in Counter(names).items():
        if not name:
            yield f"{place}: a name is empty; give it one"
        if count > 1:
            yield f"{place}: {name!r} stands {count} times; names are unique"
