"""Fixtures of the tests with a real schema registry: one registry and one broker for the run."""

from collections.abc import Iterator

import pytest

from infra.registry_server import open_registry
from tests.broker.conftest import broker, prefix

__all__ = ["broker", "prefix", "registry"]


@pytest.fixture(scope="session")
def registry() -> Iterator[str]:
    """Give the URL of a registry that was started for this run."""
    with open_registry() as url:
        yield url
