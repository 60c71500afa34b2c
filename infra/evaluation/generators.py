"""The generators that an evaluation knows by name: the simulated one, and models by backend."""

from pathlib import Path
from typing import Final

from infra.backends.choosing import BackendChoiceError, choose_backend
from infra.evaluation.answering import Generator
from infra.evaluation.prompted import Prompted
from infra.evaluation.simulated import Simulated
from infra.settings import Settings

SIMULATED: Final = "simulated"
RECORDED: Final = "recorded"


class UnknownGeneratorError(Exception):
    """No generator has that name, or its backend cannot be used."""


def build_generator(
    name: str, *, model: str = "", api_key: str = "", record: Path | None = None
) -> Generator:
    """Return the generator of this name: ``simulated``, or any name of a backend.

    With ``record`` all that the backend says is written there, for ``recorded:FILE``.

    Raises:
        UnknownGeneratorError: there is none; the message lists those there are.

    """
    if name == SIMULATED:
        return Simulated()
    try:
        backend = choose_backend(name, model=model, api_key=api_key, record=record)
        return Prompted(backend, candidates_max=1)
    except BackendChoiceError as error:
        raise UnknownGeneratorError(f"--backend {error}") from None


def is_simulated(name: str) -> bool:
    """Return whether the answers of this backend are drawn, also where it replays a prompt.

    A recording of drawn answers is as simulated as they were: any line of it says so.
    """
    kind, _, rest = name.partition(":")
    if kind != RECORDED:
        return kind == SIMULATED
    try:
        with Path(rest).open(encoding="utf-8", errors="replace") as lines:
            return any(f'"model": "{SIMULATED}' in line for line in lines)
    except OSError:
        return False  # There is no such recording; whoever opens it says so.


def read_key() -> str:
    """Return the key of the model's server from the environment, or ""."""
    key = Settings().api_key
    return "" if key is None else key.get_secret_value()
