"""Names, intervals and predicates inside payloads: what admission asks of each (spec 1.11)."""

from functools import lru_cache

from processors.compilation.fixing import name_zone, resolve_text
from processors.compilation.refusal import Refusal, violate
from processors.limits import IDENTIFIER_CHARACTERS_MAX
from processors.predicates.instants import find_zone
from processors.predicates.resolution import ResolutionError
from processors.predicates.text import PredicateTextError
from schemas.event import Event, SlotStatement
from schemas.fate import RejectionReason
from schemas.predicate import Predicate, PredicateScope


def check_name(field: str, name: str) -> Refusal | None:
    """Refuse a name that is blank, too long or holds NUL, which separates parts of row ids."""
    if not name or name.isspace():
        return violate(f"{field}: empty; give it a name")
    if len(name) > IDENTIFIER_CHARACTERS_MAX:
        return violate(f"{field}: longer than {IDENTIFIER_CHARACTERS_MAX} characters; shorten it")
    if "\0" in name:
        return violate(f"{field}: holds NUL at character {name.index(chr(0))}; remove it")
    return None


@lru_cache(maxsize=16_384)
def is_name(name: str) -> bool:
    """Return whether ``check_name`` accepts a name; for names that come again and again."""
    return check_name("", name) is None


def check_optional(field: str, name: str | None) -> Refusal | None:
    """Refuse a bad name where one is given; "" and None stand for none."""
    return None if not name else check_name(field, name)


def check_names(field: str, names: tuple[str, ...]) -> Refusal | None:
    """Refuse the first bad name of a list."""
    for place, name in enumerate(names):
        refusal = check_name(f"{field}[{place}]", name)
        if refusal is not None:
            return refusal
    return None


def check_interval(field: str, start: int | None, end: int | None) -> Refusal | None:
    """Refuse an interval [from, to) that holds no moment."""
    if start is not None and end is not None and end <= start:
        return violate(f"{field}: valid_to_ms {end} is not after valid_from_ms {start}; swap them")
    return None


def check_statements(statements: tuple[SlotStatement, ...]) -> Refusal | None:
    """Refuse the first bad slot statement."""
    for place, statement in enumerate(statements):
        if is_name(statement.slot) and not statement.subject and statement.valid_to_ms is None:
            continue
        field = f"statements[{place}]"
        refusal = check_name(f"{field}.slot", statement.slot)
        if refusal is None and statement.subject:
            refusal = check_name(f"{field}.subject", statement.subject)
        if refusal is None and statement.valid_to_ms is not None:
            refusal = check_interval(field, statement.valid_from_ms, statement.valid_to_ms)
        if refusal is not None:
            return refusal
    return None


def check_digest(field: str, digest: bytes) -> Refusal | None:
    """Refuse what is no SHA-256."""
    if len(digest) != 32:
        return violate(f"{field}: {len(digest)} bytes; a digest is the 32 bytes of a SHA-256")
    return None


def check_predicate(predicate: Predicate, event: Event) -> Refusal | None:
    """Refuse a predicate that cannot be read whole: it cannot be proposed or confirmed."""
    if predicate.scope is PredicateScope.UNKNOWN:
        return Refusal(RejectionReason.UNKNOWN_OPERATION, "predicate.scope: unknown")
    if predicate.zone is not None and find_zone(predicate.zone) is None:
        return violate(
            f"predicate.zone: {predicate.zone[:64]!r} is no IANA zone; write such as Europe/Paris"
        )
    return (
        check_name("predicate.predicate_id", predicate.predicate_id)
        or check_optional("predicate.subject", predicate.subject)
        or check_names("predicate.scenes", predicate.scenes)
        or check_names("predicate.dimensions", predicate.dimensions)
        or check_interval("predicate", predicate.valid_from_ms, predicate.valid_to_ms)
        or _check_text("predicate.expression", predicate.expression, predicate, event)
        or (
            None
            if predicate.unless is None
            else _check_text("predicate.unless", predicate.unless, predicate, event)
        )
    )


def _check_text(field: str, text: str, predicate: Predicate, event: Event) -> Refusal | None:
    try:
        resolve_text(text, event.occurred_at_ms, predicate.zone or name_zone(event))
    except PredicateTextError as error:
        return violate(f"{field} {error}")
    except ResolutionError as error:
        return violate(f"{field}: {error}")
    return None
