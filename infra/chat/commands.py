"""What a line in the terminal means: words for the system, or a command behind a slash."""

import hashlib
import json
from typing import Final

from infra.chat.session import Session
from infra.typed_values import read_value
from processors.predicates.rendering import render
from processors.predicates.text import PredicateTextError, parse_rule
from schemas.agreement import Answer
from schemas.candidate import SlotValue
from schemas.predicate import Predicate, PredicateScope
from schemas.value_json import ValueFormatError, unique_pairs

HELP: Final = """\
words                    say them, and ask for a turn
yes, no                  answer the question just shown
/answer slot=JSON ...    answer it with values; /answer yes, /answer no
/state slot=JSON ...     state values, as a form would
/ask [words]             ask for a turn without saying anything
/confirm N               confirm open proposal N
/confirm RULE            confirm a rule, such as: slots.price <= 50 unless slots.vip == true
/decline N               decline open proposal N
/revoke ID               take a predicate out of force
/scene NAME              go to another scene
/help, /quit"""


class LineError(Exception):
    """A line means nothing; the message says what to write instead."""


def run_line(session: Session, line: str) -> bool:
    """Carry out one line; False when the conversation is over.

    Raises:
        LineError: the line means nothing.

    """
    text = line.strip()
    if not text:
        return True
    if not text.startswith("/"):
        session.say(text)
        return True
    name, _, rest = text[1:].partition(" ")
    rest = rest.strip()
    match name:
        case "quit" | "exit":
            return False
        case "help":
            session.lines.append(("log", HELP))
        case "ask":
            session.ask(rest or None, "")
        case "answer":
            _answer(session, rest)
        case "state":
            session.state(_read_values(rest))
        case "confirm":
            _confirm(session, rest)
        case "decline":
            session.decline(_find_proposal(session, rest))
        case "revoke":
            _revoke(session, rest)
        case "scene":
            _move(session, rest)
        case _:
            raise LineError(f"/{name} is no command; /help lists them")
    return True


def _answer(session: Session, rest: str) -> None:
    if rest.lower() in {"yes", "no"}:
        session.answer(Answer.CONFIRM if rest.lower() == "yes" else Answer.REJECT)
        return
    session.answer(Answer.VALUE, _read_values(rest))


def _confirm(session: Session, rest: str) -> None:
    if rest.isascii() and rest.isdecimal():
        session.confirm(_find_proposal(session, rest))
        return
    try:
        rule, exception = parse_rule(rest)
    except PredicateTextError as error:
        raise LineError(f"no rule: {error}") from None
    expression = render(rule)
    unless = None if exception is None else render(exception)
    digest = hashlib.sha256(f"{expression}\0{unless}".encode()).hexdigest()
    session.confirm(
        Predicate(
            predicate_id=f"chat:{digest[:8]}",
            expression=expression,
            unless=unless,
            scenes=(),
            subject="",
            scope=PredicateScope.STANDING,
            valid_from_ms=None,
            valid_to_ms=None,
            dimensions=(),
            zone=session.speaker.zone,
        )
    )


def _find_proposal(session: Session, rest: str) -> bytes:
    proposals = session.look().proposals
    if not (rest.isascii() and rest.isdecimal() and 1 <= int(rest[:6]) <= len(proposals)):
        raise LineError(f"{rest or 'nothing'}: no open proposal; their numbers stand beside them")
    return proposals[int(rest[:6]) - 1].digest


def _revoke(session: Session, rest: str) -> None:
    known = [row.predicate.predicate_id for row in session.look().contract]
    if rest not in known:
        raise LineError(f"{rest or 'nothing'}: not in force; in force are: {', '.join(known)}")
    session.revoke(rest)


def _move(session: Session, rest: str) -> None:
    known = [scene.name for scene in session.catalogue.scenes]
    if rest not in known:
        raise LineError(f"{rest or 'nothing'}: no scene; choose from {', '.join(known)}")
    session.scene = rest
    session.packet = session.outcome = None


def _read_values(rest: str) -> tuple[SlotValue, ...]:
    """Return the slots of ``name=JSON name=JSON``; a value may hold blanks inside its quotes."""
    found = []
    decoder = json.JSONDecoder(object_pairs_hook=unique_pairs)
    left = rest
    while left:
        name, equals, tail = left.partition("=")
        try:
            if not equals or not name or " " in name:
                raise ValueError
            data, end = decoder.raw_decode(tail)
            found.append(SlotValue(name, read_value(data)))
        except (ValueError, ValueFormatError, RecursionError):
            raise LineError(
                f"""{left[:40]}: write slot=JSON, as in seats=2 city="Bonn" """
            ) from None
        left = tail[end:].strip()
    if not found:
        raise LineError("""write slot=JSON, as in seats=2 city="Bonn" """)
    return tuple(found)
