"""The generators that an evaluation knows by name."""

from collections.abc import Callable
from typing import Final

from infra.evaluation.answering import Generator
from infra.evaluation.simulated import Simulated

GENERATORS: Final[dict[str, Callable[[], Generator]]] = {"simulated": Simulated}


class UnknownGenerator(Exception):  # noqa: N818 - a state of the request, said to people
    """No generator has that name."""


def build_generator(name: str) -> Generator:
    """Return the generator of this name.

    Raises:
        UnknownGenerator: there is none; the message lists those there are.

    """
    build = GENERATORS.get(name)
    if build is None:
        raise UnknownGenerator(f"--backend {name} is none of {', '.join(sorted(GENERATORS))}")
    return build()
