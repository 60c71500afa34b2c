"""The generators that an evaluation knows by name: the simulated one, and models by backend."""

from pathlib import Path

from infra.backends.choosing import BackendChoiceError, choose_backend
from infra.evaluation.answering import Generator
from infra.evaluation.prompted import Prompted
from infra.evaluation.simulated import Simulated
from infra.settings import Settings

SIMULATED = "simulated"


class UnknownGenerator(Exception):  # noqa: N818 - a state of the request, said to people
    """No generator has that name, or its backend cannot be used."""


def build_generator(
    name: str, *, model: str = "", api_key: str = "", record: Path | None = None
) -> Generator:
    """Return the generator of this name: ``simulated``, or any name of a backend.

    With ``record`` all that the backend says is written there, for ``recorded:FILE``.

    Raises:
        UnknownGenerator: there is none; the message lists those there are.

    """
    if name == SIMULATED:
        return Simulated()
    try:
        backend = choose_backend(name, model=model, api_key=api_key, record=record)
        return Prompted(backend, candidates_max=1)
    except BackendChoiceError as error:
        raise UnknownGenerator(f"--backend {error}") from None


def is_simulated(name: str) -> bool:
    """Return whether the answers of this backend are drawn, also where it replays a prompt."""
    return name.partition(":")[0] == SIMULATED


def read_key() -> str:
    """Return the key of the model's server from the environment, or ""."""
    key = Settings().api_key
    return "" if key is None else key.get_secret_value()
