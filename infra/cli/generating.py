"""The command generate: a model answers what a log asks for, or phrases what it committed."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from infra.backends.choosing import FORMS, BackendChoiceError, choose_backend
from infra.backends.openai import Form
from infra.cli.console import (
    CommandError,
    JsonOption,
    LogOption,
    open_log,
    out,
    print_json,
    print_table,
    reported,
)
from infra.generation.asking import DecodingSettings
from infra.generation.generator import Generator
from infra.generation.pending import Answered, PendingTurns
from infra.generation.phrasing import Policy, phrase_all
from infra.settings import Settings
from streams.embedded import Embedded

PLAIN = DecodingSettings()

BackendOption = Annotated[str, typer.Option("--backend", help=f"Who answers: {FORMS}.")]
ModelOption = Annotated[str, typer.Option(help="The model's id, for servers with several.")]
FormOption = Annotated[Form, typer.Option(help="How the schema is sent to an openai server.")]
RecordOption = Annotated[
    Path | None, typer.Option(help="Write every reply here, for --backend recorded:FILE.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("generate")(generate)


def generate(
    log: LogOption,
    backend: BackendOption,
    model: ModelOption = "",
    form: FormOption = Form.SCHEMA,
    record: RecordOption = None,
    temperature: Annotated[float, typer.Option(min=0, max=2)] = PLAIN.temperature / 1_000_000,
    tokens_max: Annotated[int, typer.Option(min=1, help="Of one answer.")] = PLAIN.tokens_max,
    retries: Annotated[int, typer.Option(min=0, max=3)] = PLAIN.retries_max,
    timeout_s: Annotated[int, typer.Option(min=1, help="Of one call.")] = PLAIN.timeout_ms // 1_000,
    seed: Annotated[int, typer.Option(help="Each retry takes the next one.")] = 1,
    candidates: Annotated[int, typer.Option(min=1, max=64, help="At most, of one answer.")] = 1,
    phrase: Annotated[
        Policy | None,
        typer.Option(help="Phrase commitments instead; what to do when a text says too much."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Answer every pending packet of a log; each answer or failure is an event on it.

    The model sees the packet only. Its key is COMMITMENTS_API_KEY. Recorded and simulated
    backends call no model.

    Example: commitments generate --log my-log --backend openai:http://localhost:8080
    """
    decoding = DecodingSettings(
        temperature=round(temperature * 1_000_000),
        tokens_max=tokens_max,
        retries_max=retries,
        timeout_ms=timeout_s * 1_000,
        seed=seed,
        candidates_max=candidates,
    )
    with (
        reported(as_json=as_json),
        open_log(log) as embedded,
        open_generator(backend, decoding, model=model, form=form, record=record) as generator,
    ):
        turns = PendingTurns(embedded, generator)
        if phrase is not None:
            _phrase(embedded, generator, turns, phrase, as_json=as_json)
            return
        _report(list(_follow(turns.answer(), as_json=as_json)), as_json=as_json)


@contextmanager
def open_generator(
    backend: str,
    decoding: DecodingSettings,
    *,
    model: str = "",
    form: Form = Form.SCHEMA,
    record: Path | None = None,
    resume: bool = False,
) -> Iterator[Generator]:
    """Yield a generator with the backend of a setting, and close that afterwards.

    With ``resume`` what the file of ``record`` holds is said again, not asked for.
    """
    key = Settings().api_key
    try:
        chosen = choose_backend(
            backend,
            model=model,
            api_key="" if key is None else key.get_secret_value(),
            form=form,
            record=record,
            resume=resume,
        )
    except BackendChoiceError as error:
        raise CommandError(f"--backend: {error}") from None
    try:
        yield Generator(chosen, decoding)
    finally:
        chosen.close()


def describe_answer(answered: Answered) -> dict[str, Any]:
    """Return what one answer came to, as plain JSON."""
    payload: Any = answered.event.payload
    return {
        "user": answered.packet.user,
        "turn": answered.packet.turn_id,
        "scene": answered.packet.scene,
        "answer": payload.kind.value if answered.failed else "candidates",
        "candidates": 0 if answered.failed else len(payload.candidates),
        "attempts": len(payload.attempts),
        "latency_ms": sum(attempt.latency_ms for attempt in payload.attempts),
        "packet_tokens": answered.packet_tokens,
        "history_tokens": answered.history_tokens,
        "saving_percent": answered.saving_percent,
        "detail": payload.attempts[-1].detail,
    }


def _follow(answers: Iterator[Answered], *, as_json: bool) -> Iterator[dict[str, Any]]:
    for answered in answers:
        line = describe_answer(answered)
        if as_json:
            print_json(line)
        yield line


def _report(lines: list[dict[str, Any]], *, as_json: bool) -> None:
    counts = Counter(line["answer"] for line in lines)
    total = {
        "packets": len(lines),
        **dict(sorted(counts.items())),
        "median_packet_tokens": _middle(lines, "packet_tokens"),
        "median_history_tokens": _middle(lines, "history_tokens"),
        "median_saving_percent": _middle(lines, "saving_percent"),
    }
    if as_json:
        print_json({"total": total})
        return
    columns = ("user", "turn", "answer", "attempts", "latency_ms", "saving_percent", "detail")
    print_table("answers", columns, ([line[name] for name in columns] for line in lines))
    print_table("all", ("", "count"), list(total.items()))
    if not lines:
        out.print("no packet waits for an answer; commitments turn without --candidates asks")
    else:
        out.print("saving: what the packet costs less than the user's whole history would")


def _middle(lines: list[dict[str, Any]], name: str) -> int:
    return round(median(line[name] for line in lines)) if lines else 0


def _phrase(
    embedded: Embedded,
    generator: Generator,
    turns: PendingTurns,
    policy: Policy,
    *,
    as_json: bool,
) -> None:
    counts: Counter[str] = Counter()
    for commitment, phrased in phrase_all(embedded, generator, turns, policy):
        source = phrased.source if phrased.text is not None else "none"
        counts[source] += 1
        counts["mismatched"] += bool(phrased.mismatches)
        if as_json:
            print_json(
                {
                    "turn": commitment.turn_id,
                    "user": commitment.user,
                    "from": source,
                    "mismatches": list(phrased.mismatches),
                    "text": phrased.text,
                }
            )
    if as_json:
        print_json({"total": dict(sorted(counts.items()))})
    else:
        print_table("phrasings", ("", "count"), sorted(counts.items()))
        out.print("commitments outputs --topic surfaces shows them")
