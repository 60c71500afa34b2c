"""The command play: recorded dialogues whose turns a model answers in their authors' place."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.audit.replay import replay
from infra.backends.choosing import FORMS
from infra.cli.console import (
    CommandError,
    JsonOption,
    holds_log,
    open_log,
    out,
    print_json,
    print_table,
    progress_bar,
    reported,
)
from infra.cli.generating import PLAIN, open_generator
from infra.cli.kafka_options import BootstrapOption, PrefixOption, read_settings
from infra.cli.targets import AnyLogOption
from infra.generation.pending import PendingTurns, converse, list_outcomes
from infra.generation.playing import (
    KafkaStage,
    Outcomes,
    describe_answers,
    describe_outcomes,
    read_dialogues,
)
from infra.importers.sources import SourceError
from infra.outcome_reader import UnreadableOutcomeError
from schemas.event import Event
from schemas.topics import EVENTS, name_topic
from streams.embedded import Embedded
from streams.kafka_log import describe_topic_id

CORPORA = ("sgd", "tau")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("play")(play)


def play(
    sources: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders; the shipped dialogues if none.")
    ] = None,
    corpus: Annotated[str, typer.Option(help=f"Their format: {' or '.join(CORPORA)}.")] = "sgd",
    dialogues: Annotated[int | None, typer.Option(min=1, help="Only so many, the first.")] = None,
    log: AnyLogOption = None,
    backend: Annotated[str | None, typer.Option(help=f"Who answers: {FORMS}.")] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Write every reply here; what it holds already is said again."),
    ] = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    same_as: Annotated[
        Path | None, typer.Option(help="On Kafka: a played log whose outcomes must come again.")
    ] = None,
    wait_s: Annotated[float, typer.Option(min=1, help="On Kafka: for one turn to end.")] = 800.0,
    *,
    as_json: JsonOption = False,
) -> None:
    """Play recorded dialogues without their own candidates; each turn is answered in its place.

    Embedded (--log, else nowhere) the backend answers, and all is replayed without it. On Kafka
    the generator that serves there answers, and each turn is waited for. Run again with the same
    --record, an interrupted play asks only for what is missing.

    Example: commitments play data/sgd/dev --dialogues 30 --backend local --record replies.jsonl
    """
    with reported(as_json=as_json):
        if corpus not in CORPORA:
            raise CommandError(f"--corpus: {corpus} is no format", f"choose {' or '.join(CORPORA)}")
        if (backend is None) == (bootstrap is None):
            raise CommandError(
                "nobody answers, or two do", "give --backend NAME, or --bootstrap HOST:PORT"
            )
        if bootstrap is not None and (log is not None or record is not None):
            raise CommandError(
                "--log and --record belong to an embedded log",
                "leave them out; COMMITMENTS_GENERATOR_BACKEND names who answers on Kafka",
            )
        if same_as is not None and bootstrap is None:
            raise CommandError("--same-as compares what Kafka put out", "give --bootstrap")
        with _reading(corpus, sources, dialogues) as events:
            if bootstrap is None:
                assert backend is not None
                report = _play_embedded(events, log, backend, record, as_json=as_json)
            else:
                report = _play_kafka(events, bootstrap, prefix, wait_s, same_as, as_json=as_json)
    _show(report, as_json=as_json)


@contextmanager
def _reading(
    corpus: str, sources: list[Path] | None, dialogues: int | None
) -> Iterator[Iterator[Event]]:
    with resources.as_file(resources.files("infra") / "sample") as sample:
        try:
            yield read_dialogues(corpus, sources or [sample], dialogues=dialogues)
        except SourceError as error:
            raise CommandError(f"{error.place}: {error.detail}", error.remedy) from None


def _play_embedded(
    events: Iterator[Event], log: Path | None, backend: str, record: Path | None, *, as_json: bool
) -> dict[str, Any]:
    if log is not None and holds_log(log):
        raise CommandError(
            f"{log} holds a log already", "name a new folder; --record keeps the answers given"
        )
    with tempfile.TemporaryDirectory(prefix="commitments-play-") as scratch:
        folder = log or Path(scratch) / "log"
        with (
            open_generator(backend, PLAIN, record=record, resume=True) as generator,
            open_log(folder, must_exist=False) as embedded,
        ):
            answers = []
            with progress_bar("answers", as_json=as_json) as update:
                for answered in converse(embedded, events, PendingTurns(embedded, generator)):
                    answers.append(answered)
                    update(len(answers), 0)
            with progress_bar("replaying", as_json=as_json) as update:
                replayed = asdict(replay(embedded, update))
            outcomes = _read_outcomes(embedded)
    counts = {name: count for name, count in replayed.items() if isinstance(count, int)}
    return describe_outcomes(outcomes) | describe_answers(answers) | {"replay": counts}


def _read_outcomes(embedded: Embedded) -> Outcomes:
    outcomes: Outcomes = {}
    for _, record in list_outcomes(embedded):
        outcomes.setdefault((record.tenant, record.user, record.turn_id), []).append(record)
    return outcomes


def _play_kafka(
    events: Iterator[Event],
    bootstrap: str,
    prefix: str | None,
    wait_s: float,
    same_as: Path | None,
    *,
    as_json: bool,
) -> dict[str, Any]:
    expected: Outcomes | None = None
    if same_as is not None:
        with open_log(same_as) as embedded:
            expected = _read_outcomes(embedded)
    settings = read_settings(bootstrap=bootstrap, prefix=prefix)
    connection = settings.connect()
    _, partitions = describe_topic_id(connection, name_topic(EVENTS, prefix=settings.prefix))
    stage = KafkaStage(connection, prefix=settings.prefix, partitions=partitions, wait_s=wait_s)
    try:
        with closing(stage), progress_bar("turns", as_json=as_json) as update:
            stage.play(events, lambda turns: update(turns, 0))
    except UnreadableOutcomeError as error:
        raise CommandError(str(error), "play with the release that serves these topics") from None
    report = describe_outcomes(stage.outcomes)
    if expected is None:
        return report
    same = sum(stage.outcomes.get(turn) == found for turn, found in expected.items())
    return report | {"expected_turns": len(expected), "turns_as_expected": same}


def _show(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(report)
    else:
        for name in ("outcomes", "failures", "attempts", "replay"):
            if report.get(name):
                print_table(name, ("", "count"), list(report[name].items()))
        rows = [(n, v) for n, v in report.items() if not isinstance(v, dict)]
        print_table("all", ("", ""), rows)
        if "packets" in report:
            out.print("saving: what a packet costs less than the user's whole history would")
    odd = report["turns"] - report["turns_with_one_outcome"]
    unlike = report.get("expected_turns", 0) - report.get("turns_as_expected", 0)
    if odd or unlike or any(report.get("replay", {}).get(n) for n in _FAULTS):
        raise typer.Exit(1)


_FAULTS = ("missing", "duplicate", "divergent", "fates")
