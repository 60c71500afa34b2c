"""A damaged, foreign or missing row store is noticed and made anew; no answer is ever wrong."""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.simulation.host import KILLED, Host

EVENTS = 250
POSITIONS_PER_FILE = int(os.environ.get("FLIPS", "1"))
"""`FLIPS=100` is the thorough run."""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Return a host of forked processes."""
    host = Host()
    yield host
    host.close()


@pytest.fixture(scope="module")
def folders(host: Host, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return one folder whose last process ended cleanly and one whose last process was killed."""
    made = {}
    for name in ("closed", "killed"):
        folder = made[name] = tmp_path_factory.mktemp(name)
        of: dict[str, Any] = {"path": str(folder / "log"), "acks": str(folder / "acks"), "seed": 5}
        host.run("work", events=EVENTS - 50, **of)
        if name == "closed":
            host.run("work", events=EVENTS, **of)
        else:
            host.run("append", path=of["path"], events=EVENTS)
            assert KILLED == host.run("fold", path=of["path"], crash_at="fold_ended")
    return made


def copy_folder(source: Path, target: Path) -> dict[str, str]:
    """Return the arguments of jobs on a fresh copy."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return {"path": str(target / "log"), "acks": str(target / "acks")}


@pytest.mark.parametrize("name", ["closed", "killed"])
def test_flip_in_every_file(
    host: Host, folders: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """A flipped byte anywhere in the row store is healed or without effect."""
    draw = random.Random(name)
    files = sorted(p for p in (folders[name] / "log" / "rows").iterdir() if p.stat().st_size)
    for file in files:
        size = file.stat().st_size
        positions = {size - 1} | {draw.randrange(size) for _ in range(POSITIONS_PER_FILE)}
        for position in sorted(positions):
            of = copy_folder(folders[name], tmp_path / "copy")
            content = bytearray(file.read_bytes())
            content[position] ^= draw.choice([0xFF, 0x01, 0x80])
            (tmp_path / "copy" / "log" / "rows" / file.name).write_bytes(content)
            host.run("heal", path=of["path"])
            assert EVENTS == host.run("check", **of), (file.name, position)


@pytest.mark.parametrize("name", ["closed", "killed"])
def test_every_file_cut_or_removed(
    host: Host, folders: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """A file of the row store that was removed, emptied or cut is healed or without effect."""
    for file in sorted((folders[name] / "log" / "rows").iterdir()):
        for damage in ("removed", "emptied", "cut"):
            of = copy_folder(folders[name], tmp_path / "copy")
            victim = tmp_path / "copy" / "log" / "rows" / file.name
            content = victim.read_bytes()
            victim.unlink()
            if damage != "removed":
                victim.write_bytes(content[: len(content) // 2] if damage == "cut" else b"")
            host.run("heal", path=of["path"])
            assert EVENTS == host.run("check", **of), (file.name, damage)


def test_store_removed(host: Host, folders: dict[str, Path], tmp_path: Path) -> None:
    """Without its row store a folder is folded again from the log to the same rows and outputs."""
    of = copy_folder(folders["closed"], tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "log" / "rows")
    assert EVENTS == host.run("fold", path=of["path"])["events"]
    assert EVENTS == host.run("check", **of)


def test_store_of_another_log(host: Host, folders: dict[str, Path], tmp_path: Path) -> None:
    """The row store of another log is wiped, not taken over."""
    of = copy_folder(folders["closed"], tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "log" / "rows")
    shutil.copytree(folders["killed"] / "log" / "rows", tmp_path / "copy" / "log" / "rows")
    assert {"events": EVENTS, "rebuilds": 1} == host.run("fold", path=of["path"])
    assert EVENTS == host.run("check", **of)


@pytest.mark.parametrize("tampering", ["row", "no row", "new row", "output", "no output", "ledger"])
def test_an_edit_with_right_checksums_is_found(
    host: Host, folders: dict[str, Path], tmp_path: Path, tampering: str
) -> None:
    """Rows, outputs or ledger records changed through the database itself are healed."""
    of = copy_folder(folders["closed"], tmp_path / "copy")
    host.run("tamper", path=of["path"], tampering=tampering)
    host.run("fold" if "row" in tampering else "repair", path=of["path"])
    assert EVENTS == host.run("check", **of)


@pytest.mark.parametrize("name", ["closed", "killed"])
def test_a_flip_that_leaves_no_trace(
    host: Host, folders: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """A flipped byte under an unchanged size and time is met when its block is read, or by run."""
    draw = random.Random(f"silent {name}")
    rows = folders[name] / "log" / "rows"
    files = sorted(p for p in rows.iterdir() if p.stat().st_size)
    for file in files:
        position = draw.randrange(file.stat().st_size)
        of = copy_folder(folders[name], tmp_path / "copy")
        victim = tmp_path / "copy" / "log" / "rows" / file.name
        stat = victim.stat()
        content = bytearray(victim.read_bytes())
        content[position] ^= 0xFF
        victim.write_bytes(content)
        os.utime(victim, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        host.run("append", path=of["path"], events=EVENTS + 40)
        host.run("fold", path=of["path"])
        host.run("fold_proved", path=of["path"])
        host.run("heal", path=of["path"])
        assert EVENTS + 40 == host.run("check", **of), (file.name, position)


def test_a_clean_close_spares_the_proof(
    host: Host, folders: dict[str, Path], tmp_path: Path
) -> None:
    """Untouched rows are taken as proved at a fold; a run proves them, and so does every change."""
    of = copy_folder(folders["closed"], tmp_path / "copy")
    clean = tmp_path / "copy" / "log" / "rows.clean"

    assert clean.exists()
    assert 0 == host.run("count_proofs", path=of["path"])
    assert 1 == host.run("count_proofs", path=of["path"], proved=True)
    clean.unlink()
    assert 1 == host.run("count_proofs", path=of["path"])
    (tmp_path / "copy" / "log" / "rows" / "000999.sst.trash").touch()
    assert 1 == host.run("count_proofs", path=of["path"])
    assert 0 == host.run("count_proofs", path=of["path"])
    assert KILLED == host.run("fold", path=of["path"], crash_at="store_opened")
    assert not clean.exists()
    assert 1 == host.run("count_proofs", path=of["path"])
    assert EVENTS == host.run("check", **of)
