"""The command that puts a ruleset or catalogue in force: activate."""

import time
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.console import (
    CommandError,
    JsonOption,
    clean,
    out,
    print_json,
    read_file,
    reported,
)
from infra.cli.kafka_options import BootstrapOption, PrefixOption
from infra.cli.targets import AnyLogOption, open_target
from infra.event_json import EventFormError, parse_object, parse_record
from processors.ruleset import UnknownRulesetError, find_ruleset
from schemas.catalogue import Catalogue
from schemas.codec import digest
from schemas.control import CatalogueActivated, HistoryAttested, RulesetActivated
from schemas.event import Event, Principal, PrincipalKind


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("activate")(activate)


def activate(
    operator: Annotated[str, typer.Option(help="Your operator id; it needs the right to operate.")],
    log: AnyLogOption = None,
    ruleset: Annotated[int | None, typer.Option(min=1, help="Number of a ruleset.")] = None,
    catalogue: Annotated[Path | None, typer.Option(help="Catalogue as JSON.")] = None,
    attest: Annotated[
        str | None, typer.Option(help="Vouch for incomplete histories: TENANT/USER, TENANT or *.")
    ] = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Append a control record to every partition; it is valid from there on.

    A worker without that ruleset stops when it reads the record.

    Example: commitments activate --log my-log --operator ops --ruleset 2
    """
    with reported(as_json=as_json):
        payload = _choose(ruleset, catalogue, attest)
        event = _build(operator, payload)
        with open_target(log, bootstrap, prefix) as append:
            append([event], None)
    if as_json:
        print_json({"event_id": event.event_id, "activated": type(payload).__name__})
    else:
        out.print(f"{type(payload).__name__} appended as {clean(event.event_id)}")


def _choose(
    ruleset: int | None, catalogue: Path | None, attest: str | None
) -> RulesetActivated | CatalogueActivated | HistoryAttested:
    if sum(part is not None for part in (ruleset, catalogue, attest)) != 1:
        raise CommandError("name one thing", "give --ruleset, --catalogue or --attest")
    if ruleset is not None:
        try:
            find_ruleset(ruleset)
        except UnknownRulesetError as error:
            raise CommandError(str(error), "use a number that this build has") from None
        return RulesetActivated(ruleset)
    if catalogue is not None:
        try:
            content = parse_record(Catalogue, parse_object(read_file(catalogue)))
        except EventFormError as error:
            raise CommandError(f"{catalogue}: {error}") from None
        return CatalogueActivated(content)
    assert attest is not None
    if attest == "*":
        return HistoryAttested(None, None)
    tenant, _, user = attest.partition("/")
    return HistoryAttested(tenant, user or None)


def _build(
    operator: str, payload: RulesetActivated | CatalogueActivated | HistoryAttested
) -> Event:
    now_ms = time.time_ns() // 1_000_000
    return Event(
        event_id=f"{type(payload).__name__}:{now_ms}:{digest(payload).hex()[:16]}",
        tenant="",
        user="",
        occurred_at_ms=now_ms,
        utc_offset_min=0,
        zone=None,
        principal=Principal(PrincipalKind.OPERATOR, operator),
        mac=None,
        causation_id=None,
        correlation_id=None,
        derived_from=(),
        source=None,
        source_seq=None,
        payload=payload,
    )
