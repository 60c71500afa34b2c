"""docker-compose.yml against the official schema of the Compose Specification.

The schema stands unchanged in tests/compose_spec with its licence, as module
github.com/compose-spec/compose-go/v2 v2.9.1 has it.
"""

import copy
import json
from pathlib import Path

import fastjsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHECK = fastjsonschema.compile(
    json.loads((ROOT / "tests" / "compose_spec" / "compose-spec.json").read_text("utf-8")),
    use_default=False,
)
FILE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
WRONG = {
    "a word that is none": ("broker", "prots", ["9092:9092"]),
    "a number of tries in words": ("broker", "healthcheck", {"retries": ["many"]}),
    "a condition that is none": ("generator", "depends_on", {"broker": {"condition": "up"}}),
    "a command that is a number": ("worker-1", "command", 7),
}


def test_the_compose_file_is_of_the_specification() -> None:
    """Every service, volume and setting has the official form; ours are among them."""
    CHECK(FILE)

    assert {"broker", "provision", "worker-1", "worker-2", "generator"} <= FILE["services"].keys()


@pytest.mark.parametrize("mistake", WRONG)
def test_the_schema_notices_a_mistake(mistake: str) -> None:
    """What the specification does not know is refused, with the place."""
    service, name, value = WRONG[mistake]
    wrong = copy.deepcopy(FILE)
    wrong["services"][service][name] = value

    with pytest.raises(fastjsonschema.JsonSchemaException, match=service):
        CHECK(wrong)
