"""Files of Schema-Guided Dialogue: which to read, their schemas, and their shape.

A folder stands for all its dialogues_*.json files; a single file has its schema.json beside it.
What a dialogue means is not known here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from infra.importers.sgd_catalogue import Service, merge_services, read_services
from infra.importers.sources import SourceError, find_file, pick, read_json


@dataclass(frozen=True, slots=True)
class SgdSources:
    """Dialogue files in the order they are read, and the services they speak of."""

    files: tuple[Path, ...]
    services: Mapping[str, Service]


def find_sources(paths: Sequence[Path]) -> SgdSources:
    """Return the files that the paths name, with the services of their schemas.

    Raises:
        SourceError: a path is absent or holds no dialogues, or two files hold the same one.

    """
    files = [file for path in paths for file in _list_files(path)]
    if not files:
        raise SourceError("SOURCE", "no path is given", "name a folder of SGD dialogues")
    folders = list(dict.fromkeys(file.parent for file in files))
    services = (
        service
        for folder in folders
        for path in (find_file(folder, "schema.json"),)
        for service in read_services(read_json(path), path)
    )
    merged = merge_services(services, folders[-1])
    if len(folders) > 1:
        _check_users(files)
    return SgdSources(tuple(files), merged)


def read_dialogues(sources: SgdSources) -> Iterator[Mapping[str, Any]]:
    """Yield the dialogues of all files in order.

    Raises:
        SourceError: a dialogue does not have the shape, or speaks of an unknown service.

    """
    for file in sources.files:
        for dialogue, place in _read_file(file):
            _check_dialogue(dialogue, sources, place)
            yield dialogue


def _list_files(path: Path) -> list[Path]:
    if path.is_dir():
        found = [item for item in path.iterdir() if item.name.startswith("dialogues_")]
        files = sorted(item for item in found if item.name.endswith((".json", ".json.gz")))
        if not files:
            raise SourceError(path, "holds no dialogues_*.json", "name a folder of SGD dialogues")
        return files
    if not path.is_file():
        raise SourceError(path, "does not exist", "name a file or folder of SGD dialogues")
    return [path]


def _check_users(files: Sequence[Path]) -> None:
    """Refuse one id for two dialogues: splits of the corpus number theirs alike."""
    owners = sorted(
        (dialogue["dialogue_id"], str(file)) for file in files for dialogue, _ in _read_file(file)
    )
    for (left, here), (right, there) in pairwise(owners):
        if left == right:
            remedy = "import the folders into logs of their own"
            raise SourceError(there, f"dialogue {right} is in {here} too", remedy)


def _read_file(file: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    dialogues = read_json(file)
    if not isinstance(dialogues, list):
        raise SourceError(file, "no list of dialogues", "name a file of SGD dialogues")
    for number, dialogue in enumerate(dialogues):
        place = f"{file}, dialogue {number}"
        pick(dialogue, "dialogue_id", str, place)
        yield dialogue, place


def _check_dialogue(dialogue: Mapping[str, Any], sources: SgdSources, place: str) -> None:
    """Check once all that the walk through a dialogue relies on."""
    for number, turn in enumerate(pick(dialogue, "turns", list, place)):
        at = f"{place}, turn {number}"
        speaker = pick(turn, "speaker", str, at)
        pick(turn, "utterance", str, at)
        for frame in pick(turn, "frames", list, at):
            service = pick(frame, "service", str, at)
            if service not in sources.services:
                raise SourceError(at, f"service {service} is unknown", "add it to schema.json")
            if speaker == "USER":
                state = pick(frame, "state", dict, at)
                pick(state, "active_intent", str, at)
                pick(state, "slot_values", dict, at)
            elif frame.get("service_call") is not None:
                call = pick(frame, "service_call", dict, at)
                pick(call, "method", str, at)
                pick(call, "parameters", dict, at)
            for span in pick(frame, "slots", list, at):
                pick(span, "slot", str, at)
                if not _is_span(span, len(turn["utterance"])):
                    raise SourceError(at, f"span {span} is outside the text", "correct the span")
            for action in pick(frame, "actions", list, at):
                for field, kind in _ACTION_FIELDS:
                    pick(action, field, kind, at)


_ACTION_FIELDS = (("act", str), ("slot", str), ("values", list), ("canonical_values", list))


def _is_span(span: Mapping[str, Any], length: int) -> bool:
    start, end = span.get("start"), span.get("exclusive_end")
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length
