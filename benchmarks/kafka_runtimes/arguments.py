"""What every runtime is told on its command line."""

import argparse
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One run of one runtime."""

    bootstrap: str
    prefix: str
    name: str
    partitions: int
    folder: str
    reducer: str
    guarantee: str

    @property
    def events(self) -> str:
        """Return the topic that is read."""
        return f"{self.prefix}events"

    @property
    def outputs(self) -> str:
        """Return the prefix of the topics that are written."""
        return f"{self.prefix}{self.name}."


def parse() -> Task:
    """Return the task of this process."""
    parser = argparse.ArgumentParser()
    for name in Task.__dataclass_fields__:
        parser.add_argument(f"--{name}", required=True, type=int if name == "partitions" else str)
    return Task(**vars(parser.parse_args()))
