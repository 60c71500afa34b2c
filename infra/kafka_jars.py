"""The jars of a Kafka broker or registry: resolved once by Maven into a cache folder, then reused.

Only Maven is asked, with whatever settings the machine gives it; nothing else is downloaded here.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

POM = Path(__file__).parent / "kafka" / "pom.xml"
CACHE_DEFAULT = Path(__file__).parent.parent / ".cache" / "kafka"
RESOLVE_TIMEOUT_S = 600


class JarsMissingError(Exception):
    """The broker's jars cannot be had; the message names the remedy."""


def resolve_jars(*, cache: Path = CACHE_DEFAULT, pom: Path = POM) -> Path:
    """Return the folder that holds what a pom names, filling it when it is not there yet.

    The folder appears in one rename, so that a resolution cut short is never taken for a whole one
    and two test runs at once cannot see half of each other's work.
    """
    folder = cache / _pom_version(pom)
    if folder.is_dir():
        return folder
    if shutil.which("mvn") is None:
        raise JarsMissingError(
            f"`mvn` is not on the path, so the jars of {pom} cannot be resolved. Install Maven and "
            "Java 17, or set BOOTSTRAP_SERVERS to a broker that runs already."
        )
    partial = cache / f".partial-{os.getpid()}"
    cache.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(partial, ignore_errors=True)
    command = [
        "mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies",
        f"-DoutputDirectory={partial}", "-DincludeScope=runtime",
    ]  # fmt: skip
    run = subprocess.run(  # noqa: S603  # our own words and paths only
        command, capture_output=True, text=True, timeout=RESOLVE_TIMEOUT_S, check=False
    )
    if run.returncode != 0 or not partial.is_dir():
        shutil.rmtree(partial, ignore_errors=True)
        raise JarsMissingError(
            f"Maven could not resolve the jars of {pom} (exit {run.returncode}). Repeat it with "
            f"`{' '.join(command)}`.\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
        )
    try:
        partial.rename(folder)
    except OSError:
        # Another process was faster; its folder is as good as ours.
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _pom_version(pom: Path) -> str:
    """Return the version that a pom names first: the cache holds one folder for each."""
    version = re.search(r"<\w+\.version>(.+?)</", pom.read_text())
    assert version, f"{pom} names no version"
    return version.group(1)
