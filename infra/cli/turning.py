"""The command for one request: turn, with the caller's own candidates, answered at once."""

import hashlib
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.appending import append_events
from infra.backends.choosing import FORMS
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
    read_file,
    reported,
)
from infra.cli.generating import PLAIN, open_generator
from infra.cli.reading import describe
from infra.event_json import EventFormError, parse_record, render_record
from infra.generation.pending import answer_turn
from infra.records import OUTCOME_TOPICS, read_output
from infra.typed_values import parse_document, parse_value
from schemas.candidate import Candidate, SlotValue
from schemas.event import Event, Principal, PrincipalKind
from schemas.turn import CandidatesProposed, TurnMode, TurnRequested
from schemas.value_json import ValueFormatError
from streams.embedded import Embedded

WAIT_MS = 30_000
ASK_REMEDY = """write for example --ask seats=2, and texts in quotes: --ask city='"Bonn"'"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("turn")(turn)


def turn(
    log: LogOption,
    user: UserOption,
    scene: Annotated[str, typer.Option(help="The scene of the catalogue.")],
    candidates: Annotated[
        Path | None, typer.Option(help="File with a JSON list of candidates, or one candidate.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="What the user asks for.")] = None,
    ask: Annotated[
        list[str] | None, typer.Option(help="A slot asked for, as name=JSON, e.g. seats=2.")
    ] = None,
    participant: Annotated[list[str] | None, typer.Option(help="Somebody who takes part.")] = None,
    wanted: Annotated[list[str] | None, typer.Option(help="A wanted dimension.")] = None,
    mode: Annotated[TurnMode, typer.Option(help="turn: latency; result: synthesis.")] = (
        TurnMode.TURN
    ),
    budget_main: Annotated[int | None, typer.Option(min=0, help="At most this cost.")] = None,
    budget_tail: Annotated[int | None, typer.Option(min=0, help="Reserve for witnesses.")] = None,
    turn_id: Annotated[str | None, typer.Option(help="Default: a digest of the request.")] = None,
    backend: Annotated[
        str | None, typer.Option(help=f"Ask a model for candidates: {FORMS}.")
    ] = None,
    tenant: TenantOption = "default",
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask for one outcome; with candidates or a model it is decided at once.

    Without either the packet is shown, and commitments generate answers it later.

    Example: commitments turn --log my-log --user ada --scene book --candidates call.json
    """
    with reported(as_json=as_json), open_log(log) as embedded:
        request = TurnRequested(
            scene=scene,
            text=text,
            participants=tuple(participant or ()),
            asks=tuple(_read_ask(part) for part in ask or ()),
            wanted_dimensions=tuple(wanted or ()),
            mode=mode,
            budget_main=budget_main,
            budget_tail=budget_tail,
        )
        offered = None if candidates is None else _read_candidates(candidates)
        envelope = _Envelope(tenant, user, turn_id)
        events = [envelope.build(request)]
        if offered is not None:
            events.append(envelope.build(_propose(events[0].event_id, offered)))
        end = embedded.log.bounds().end
        # The backend comes first: one that fails leaves no turn behind that nobody answers.
        with nullcontext() if backend is None else open_generator(backend, PLAIN) as generator:
            append_events(embedded, events)
            embedded.wait_for(embedded.log.bounds().end - 1, timeout_ms=WAIT_MS)
            if generator is not None:
                answer_turn(embedded, generator, tenant, user, events[0].event_id)
        topic, record = _find_outcome(embedded, end, (tenant, user, events[0].event_id))
    # A packet is the answer only where nobody offered candidates: theirs were rejected.
    if record is None or (topic == "packets" and offered is not None):
        raise typer.Exit(_explain_absence(embedded, end, events[0].event_id, as_json=as_json))
    _show(topic, record, events[0].event_id, as_json=as_json)


def _show(topic: str, record: Any, turn_id: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"topic": topic, "record": render_record(record)})
        return
    _, what, detail = describe(record)
    out.print(f"{topic}: {clean(what)}")
    out.print(clean(getattr(record, "text", "") or detail))
    out.print(f"turn {clean(turn_id)}; commitments explain shows why")


class _Envelope:
    """Builds the two events of one call, alike but for their payload."""

    def __init__(self, tenant: str, user: str, turn_id: str | None) -> None:
        self._tenant = tenant
        self._user = user
        self._turn_id = turn_id
        self._at_ms = time.time_ns() // 1_000_000

    def build(self, payload: TurnRequested | CandidatesProposed) -> Event:
        asking = isinstance(payload, TurnRequested)
        kind = PrincipalKind.USER if asking else PrincipalKind.GENERATOR
        parts = (self._tenant, self._user, str(self._at_ms), repr(payload))
        event_id = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
        return Event(
            event_id=(self._turn_id or event_id) if asking else event_id,
            tenant=self._tenant,
            user=self._user,
            occurred_at_ms=self._at_ms,
            utc_offset_min=0,
            zone=None,
            principal=Principal(kind, self._user if asking else "caller"),
            mac=None,
            causation_id=None,
            correlation_id=None,
            derived_from=(),
            source=None,
            source_seq=None,
            payload=payload,
        )


def _propose(turn_id: str, candidates: tuple[Candidate, ...]) -> CandidatesProposed:
    return CandidatesProposed(
        turn_id=turn_id,
        packet_digest=None,
        candidates=candidates,
        raw_output=None,
        decoding=None,
        attempts=(),
    )


def _read_ask(part: str) -> SlotValue:
    name, equals, text = part.partition("=")
    if not equals or not name:
        raise CommandError(f"--ask {part}: not name=JSON", ASK_REMEDY)
    try:
        return SlotValue(name, parse_value(text))
    except ValueFormatError as error:
        raise CommandError(f"--ask {name}: {error}", ASK_REMEDY) from None


def _read_candidates(path: Path) -> tuple[Candidate, ...]:
    try:
        data = parse_document(read_file(path))
        listed = data if isinstance(data, list) else [data]
        return tuple(parse_record(Candidate, item) for item in listed)
    except (EventFormError, ValueFormatError) as error:
        raise CommandError(f"{path}: {error}", "give a list of candidates as JSON") from None


def _find_outcome(embedded: Embedded, first: int, turn: tuple[str, str, str]) -> tuple[str, Any]:
    """Return what came of a turn (tenant, user, id) that was asked at offset ``first`` or later."""
    for topic in (*OUTCOME_TOPICS, "packets"):
        for output in embedded.outputs(topic, after=_before(first)):
            record = read_output(topic, output.record.value or b"")
            if (record.tenant, record.user, record.turn_id) == turn:
                return topic, record
    return "", None


def _before(offset: int) -> tuple[int, int] | None:
    """Return the place behind which the outputs of an event stand; None for the first event."""
    return (offset - 1, 2**31) if offset else None


def _explain_absence(embedded: Embedded, first: int, turn_id: str, *, as_json: bool) -> int:
    """Say why a request had no outcome: the rejection of one of its events."""
    for output in embedded.outputs("rejections", after=_before(first)):
        rejection = read_output("rejections", output.record.value or b"")
        message = {"turn": turn_id, "rejected": rejection.reason, "detail": rejection.detail}
        print_json(message) if as_json else out.print(
            f"rejected: {clean(rejection.reason)}: {clean(rejection.detail)}"
        )
        return 1
    return 1


__all__ = ["register", "turn"]
