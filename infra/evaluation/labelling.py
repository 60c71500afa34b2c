"""The label file: written when fixtures are made, opened by the scorer and by nothing else.

Histories have a file of their own (``histories``); no module that runs a variant imports this.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from infra.evaluation.fixture import Label

_LABEL = TypeAdapter(Label)


def write_labels(path: Path, labels: Iterable[Label]) -> None:
    """Write one label a line."""
    lines = (json.dumps(asdict(label), sort_keys=True) for label in labels)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def read_labels(path: Path) -> dict[str, Label]:
    """Return the labels by fixture.

    Raises:
        ValueError: a line is no label.

    """
    lines = path.read_text("utf-8").splitlines()
    labels = [_LABEL.validate_json(line) for line in lines]
    return {label.fixture_id: label for label in labels}
