"""The command that reads: outputs."""

from typing import Annotated, Any

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    LogOption,
    open_log,
    print_json,
    print_table,
    reported,
    say_count,
)
from infra.event_json import render_record
from infra.records import TOPICS, read_output
from schemas.identity import prefix_lengths


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("outputs")(outputs)


def outputs(
    log: LogOption,
    topic: Annotated[str, typer.Option(help=f"One of {', '.join(TOPICS)}.")] = "commitments",
    user: Annotated[str | None, typer.Option(help="Only this user's.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 1_000_000,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show the records of an output topic; with --json one object a line, complete.

    Example: commitments outputs --log my-log --topic repairs
    """
    with reported(as_json=as_json), open_log(log) as embedded:
        if topic not in TOPICS:
            raise CommandError(f"--topic: {topic} is none of {', '.join(TOPICS)}")
        rows = []
        of_tenant = b"" if tenant is None else prefix_lengths(tenant.encode())
        for output in embedded.outputs(topic):
            if output.record.value is None or not output.record.key.startswith(of_tenant):
                continue
            record = read_output(topic, output.record.value)
            if user is not None and getattr(record, "user", user) != user:
                continue
            if as_json:
                print_json({"offset": output.offset, "record": render_record(record)})
            else:
                rows.append((output.offset, *describe(record)))
            limit -= 1
            if not limit:
                break
    if not as_json:
        print_table(topic, ("offset", "user", "what", "detail"), rows)


def describe(record: Any) -> tuple[str, str, str]:
    """Return user, kind and a short text of any output record."""
    user = getattr(record, "user", "")
    match type(record).__name__:
        case "Commitment":
            slots = ", ".join(f"{slot.name}={slot.value}" for slot in record.slots)
            return user, f"{record.commitment_type} v{record.version}", slots
        case "RepairAct":
            return user, f"{record.act.value}: {record.reason.value}", record.text
        case "TurnFailure":
            return user, record.kind.value, record.detail
        case "Packet":
            needs = say_count(len(record.coverage), "requirement")
            units = f"{say_count(len(record.units), 'unit')}, {needs}"
            return user, f"{record.scene} {record.turn_id}", units
        case "Rejection":
            return "", record.reason, record.detail
        case "PredicateRow":
            state = "in force" if record.ended_seq is None else f"ended: {record.ended_by}"
            return "", record.predicate.predicate_id, f"{record.predicate.expression} ({state})"
        case "SlotRow":
            return record.subject, record.slot, f"{record.value} ({record.authority.value})"
        case name:
            return user, name, str(render_record(record))[:200]
