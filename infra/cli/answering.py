"""The command by which a user answers a question: answer."""

import time
from typing import Annotated

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    LogOption,
    TenantOption,
    UserOption,
    clean,
    open_log,
    out,
    print_json,
    reported,
)
from infra.event_json import render_record
from infra.gateway.embedded_control import EmbeddedControl
from infra.gateway.port import ControlError, Standing, Told
from infra.gateway.speaking import Speaker
from infra.typed_values import parse_value
from schemas.agreement import Answer, ClarificationAnswered
from schemas.candidate import SlotValue
from schemas.value_json import ValueFormatError

CONFIRM = "confirm"
REJECT = "reject"
FORMS = """write confirm, reject, or values such as seats=2 and city='"Bonn"'"""

IGNORED = {
    "no_open_question": "there is no such open question",
    "ambiguous_answer": "several questions are open, so nothing was confirmed; name one",
    "nothing_to_answer": "the question is not about that; it stays open",
}
"""What the reasons for ignoring an answer mean."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("answer")(answer)


def answer(
    log: LogOption,
    user: UserOption,
    given: Annotated[
        list[str] | None, typer.Argument(help="confirm, reject, or slot=JSON; none: list them.")
    ] = None,
    question: Annotated[str | None, typer.Option(help="Which question, by its id.")] = None,
    digest: Annotated[
        list[str] | None, typer.Option(help="Confirm only this offer, by its digest.")
    ] = None,
    tenant: TenantOption = "default",
    *,
    as_json: JsonOption = False,
) -> None:
    """Answer a question of the system as the user; without an answer, show what is open.

    Without --question the answer belongs to the only open one; with several open it confirms
    nothing.

    Example: commitments answer --log my-log --user ada confirm
    """
    with reported(as_json=as_json), open_log(log) as embedded:
        control = EmbeddedControl(embedded)
        if not given:
            show_questions(control.look(tenant, user), as_json=as_json)
            return
        payload = read_answer(given, question, tuple(digest or ()))
        speaker = Speaker(tenant, user)
        at_ms = time.time_ns() // 1_000_000
        try:
            (told,) = control.tell([speaker.say(payload, by=speaker.principal, at_ms=at_ms)])
        except ControlError as error:
            raise CommandError(error.message, error.remedy) from None
        report(told, control.look(tenant, user), as_json=as_json)


def read_answer(
    given: list[str], question_id: str | None, digests: tuple[str, ...]
) -> ClarificationAnswered:
    """Return the answer that words on a command line mean.

    Raises:
        CommandError: they mean none; the message shows the forms.

    """
    try:
        picked = tuple(bytes.fromhex(text) for text in digests)
    except ValueError:
        raise CommandError("--digest: not hexadecimal digits", "copy it from the list") from None
    if given in ([CONFIRM], [REJECT]):
        kind = Answer.CONFIRM if given == [CONFIRM] else Answer.REJECT
        return ClarificationAnswered(question_id, kind, picked, ())
    values = tuple(read_value(part) for part in given)
    return ClarificationAnswered(question_id, Answer.VALUE, (), values)


def read_value(part: str) -> SlotValue:
    """Return the slot and value of ``name=JSON``."""
    name, equals, text = part.partition("=")
    if not equals or not name:
        raise CommandError(f"{part}: no answer", FORMS)
    try:
        return SlotValue(name, parse_value(text))
    except ValueFormatError as error:
        raise CommandError(f"{name}: {error}", FORMS) from None


def show_questions(standing: Standing, *, as_json: bool) -> None:
    """Show the open questions with what each offers."""
    expressions = {row.digest: row.predicate.expression for row in standing.proposals}
    if as_json:
        listed = [{"id": name, **render_record(row)} for name, row in standing.questions]
        print_json({"questions": listed})
        return
    if not standing.questions:
        out.print("no question is open")
    for name, row in standing.questions:
        out.print(f"question {name} in scene {clean(row.scene)}")
        for slot in row.slots:
            out.print(f"  tell {clean(slot)}: commitments answer ... {clean(slot)}=JSON")
        for offered in row.digests:
            out.print(f"  confirm {offered.hex()}: {clean(expressions.get(offered, 'closed'))}")


def report(told: Told, standing: Standing, *, as_json: bool) -> None:
    """Say what became of an answer; exit code 1 when it had no effect."""
    heard = told.status == "accepted" and not told.ignored
    why = told.ignored or told.reason
    if as_json:
        shown = [row.predicate.expression for row in standing.contract]
        print_json({"effect": heard, "why": why, "detail": told.detail, "contract": shown})
    elif heard:
        rules = "; ".join(row.predicate.expression for row in standing.contract) or "none"
        out.print(f"heard; in force now: {clean(rules)}")
    else:
        out.print(f"no effect: {clean(IGNORED.get(why, why))} {clean(told.detail)}".rstrip())
    if not heard:
        raise typer.Exit(1)
