"""The generators that an evaluation knows by name: the simulated one, and models by backend."""

from infra.backends.choosing import BackendChoiceError, choose_backend
from infra.evaluation.answering import Generator
from infra.evaluation.prompted import Prompted
from infra.evaluation.simulated import Simulated
from infra.settings import Settings

SIMULATED = "simulated"


class UnknownGenerator(Exception):  # noqa: N818 - a state of the request, said to people
    """No generator has that name, or its backend cannot be used."""


def build_generator(name: str, *, model: str = "", api_key: str = "") -> Generator:
    """Return the generator of this name: ``simulated``, or any name of a backend.

    Raises:
        UnknownGenerator: there is none; the message lists those there are.

    """
    if name == SIMULATED:
        return Simulated()
    try:
        return Prompted(choose_backend(name, model=model, api_key=api_key), candidates_max=1)
    except BackendChoiceError as error:
        raise UnknownGenerator(f"--backend {error}") from None


def is_simulated(name: str) -> bool:
    """Return whether the answers of this backend are drawn, also where it replays a prompt."""
    return name.partition(":")[0] == SIMULATED


def read_key() -> str:
    """Return the key of the model's server from the environment, or ""."""
    key = Settings().api_key
    return "" if key is None else key.get_secret_value()
