"""The catalogue of Schema-Guided Dialogue: schema.json as scenes and commitment types.

Each transactional intent is a scene and a commitment type of the same name. Every required
slot must be carried and every carried slot confirmed; categorical slots know their choices.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from infra.importers.sources import SourceError, pick
from schemas.catalogue import (
    Catalogue,
    CommitmentType,
    Scene,
    SlotDeclaration,
    SlotType,
    TextTemplate,
)


@dataclass(frozen=True, slots=True)
class Intent:
    """One transactional intent; ``optional`` pairs a slot with its default."""

    service: str
    name: str
    required: tuple[str, ...]
    optional: tuple[tuple[str, str], ...]

    @property
    def scene(self) -> str:
        """The name of its scene and commitment type; intents repeat across services."""
        return f"{self.service}.{self.name}"


@dataclass(frozen=True, slots=True)
class Service:
    """What an importer asks about a service: its transactional intents and its choices."""

    name: str
    intents: Mapping[str, Intent]
    choices: Mapping[str, tuple[str, ...]]

    def list_required(self) -> frozenset[str]:
        """Return the slots that some transactional intent must carry."""
        return frozenset(slot for intent in self.intents.values() for slot in intent.required)


def read_services(schema: Any, place: object) -> tuple[Service, ...]:
    """Return the services of one schema.json.

    Raises:
        SourceError: it does not have the shape of a schema.

    """
    if not isinstance(schema, list):
        raise SourceError(place, "no list of services", "name an SGD schema.json")
    return tuple(_read_service(item, f"{place}, service {n}") for n, item in enumerate(schema))


def merge_services(services: Iterable[Service], place: object) -> dict[str, Service]:
    """Return services by name; the same name must mean the same service.

    Raises:
        SourceError: two schemas disagree.

    """
    merged: dict[str, Service] = {}
    for service in services:
        if merged.setdefault(service.name, service) != service:
            remedy = "import the folders into logs of their own"
            raise SourceError(place, f"two meanings of service {service.name}", remedy)
    return merged


def build_catalogue(services: Mapping[str, Service]) -> Catalogue:
    """Return the catalogue of these services, in order of service and intent name."""
    intents = [
        (service, intent)
        for _, service in sorted(services.items())
        for _, intent in sorted(service.intents.items())
    ]
    return Catalogue(
        name="sgd",
        scenes=tuple(_build_scene(intent) for _, intent in intents),
        types=tuple(_build_type(service, intent) for service, intent in intents),
        set_slots=(),
        templates=(),
    )


def _read_service(item: Any, place: str) -> Service:
    name = pick(item, "service_name", str, place)
    slots = pick(item, "slots", list, place)
    intents = pick(item, "intents", list, place)
    return Service(
        name=name,
        intents={
            intent.name: intent
            for entry in intents
            if pick(entry, "is_transactional", bool, place)
            for intent in (_read_intent(name, entry, place),)
        },
        choices={
            pick(slot, "name", str, place): tuple(pick(slot, "possible_values", list, place))
            for slot in slots
            if pick(slot, "is_categorical", bool, place)
        },
    )


def _read_intent(service: str, entry: Any, place: str) -> Intent:
    return Intent(
        service=service,
        name=pick(entry, "name", str, place),
        required=tuple(pick(entry, "required_slots", list, place)),
        optional=tuple(sorted(pick(entry, "optional_slots", dict, place).items())),
    )


def _build_scene(intent: Intent) -> Scene:
    words = ", ".join(f"{slot} {{{slot}}}" for slot in intent.required)
    return Scene(
        name=intent.scene,
        commitment_types=(intent.scene,),
        required_slots=(),
        required_dimensions=(),
        weights=(),
        templates=(TextTemplate(key=intent.scene, language="en", text=f"{intent.name}: {words}"),),
        fallback="",
    )


def _build_type(service: Service, intent: Intent) -> CommitmentType:
    optional = tuple(slot for slot, _ in intent.optional)
    return CommitmentType(
        name=intent.scene,
        slots=tuple(
            SlotDeclaration(
                name=slot,
                slot_type=SlotType.STRING,
                optional=slot in optional,
                choices=service.choices.get(slot, ()),
            )
            for slot in (*intent.required, *optional)
        ),
        required_slots=intent.required,
        confirm_carried=True,
        opens=(),
        discharges=(),
        not_affected_by=(),
    )
