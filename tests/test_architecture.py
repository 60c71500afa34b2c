"""The architecture as a test: where a line belongs, how long a file may be, what a test says."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("schemas", "processors", "streams", "infra")
FILES = sorted(
    path for folder in (*PACKAGES, "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)
OWN = [path for path in FILES if path.relative_to(ROOT).parts[0] in PACKAGES]
LINES_MAX = 300
FUNCTION_LINES_MAX = 60
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
LAYERS = {name: place for place, name in enumerate(PACKAGES)}
ALLOWED_OUTSIDE = {
    "schemas": {"fastavro", "avro", "pydantic"},
    "processors": {"numpy", "tzdata"},
    "streams": {
        "aiokafka", "faust", "mode", "confluent_kafka", "rocksdict", "structlog", "google_crc32c",
        "numpy",
    },
}  # fmt: skip


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_keeps_its_limits(path):
    """No file over 300 lines, no function over 60: a full room hides a missing concept."""
    text = path.read_text("utf-8")
    long_functions = [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES_MAX
    ]

    assert len(text.splitlines()) <= LINES_MAX
    assert [] == long_functions
    assert not BANNED_NAMES & set(path.with_suffix("").name.split("_"))


@pytest.mark.parametrize("path", OWN, ids=name_of)
def test_imports_point_one_way(path):
    """schemas <- processors <- streams <- infra, and each folder only its own libraries."""
    folder = path.relative_to(ROOT).parts[0]
    names = imported(path)
    higher = {name for name in names if LAYERS.get(name, -1) > LAYERS[folder]}
    allowed = ALLOWED_OUTSIDE.get(folder)
    foreign = {name for name in names if name not in LAYERS and name not in sys.stdlib_module_names}

    assert set() == higher
    if allowed is not None:
        assert foreign <= allowed


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_says_what_lives_in_it(path):
    """Every module opens with a docstring."""
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


@pytest.mark.parametrize("path", [p for p in FILES if p.name.startswith("test_")], ids=name_of)
def test_a_test_states_its_law(path):
    """Each test has a docstring that says in a sentence what must hold."""
    silent = [
        node.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]

    assert [] == silent


def test_nothing_is_left_for_later():
    """No marker of unfinished work, and no place of a certain machine, is in the tree."""
    words = "|".join(first + rest for first, rest in (("TO", "DO"), ("FIX", "ME"), ("XX", "X")))
    places = "|".join(first + rest for first, rest in (("wo", "rk"), ("ro", "ot"), ("ho", "me")))
    marks = re.compile(rf"\b({words})\b|/({places})/")
    found = [
        f"{name_of(path)}:{number}"
        for path in FILES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if marks.search(line)
    ]

    assert [] == found


def test_no_test_folder_is_named_like_a_package():
    """A test folder of a package's name would be imported in its place."""
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}

    assert not folders & set(PACKAGES)


def test_the_command_refuses_to_run_without_assertions():
    """Assertions are invariants: under python -O the command stops with a message."""
    run = subprocess.run(
        [sys.executable, "-O", "-c", "from infra.cli.main import run; run()"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip

    assert run.returncode == 2
    assert "python -O" in run.stderr
