"""Groups of names that belong together: a union-find over plain mappings."""

from collections.abc import Mapping, MutableMapping


def climb(parents: Mapping[str, str], name: str) -> str:
    """Return the name that stands for the group, the first of it in alphabetical order."""
    parent = parents.get(name, name)
    while parent != name:
        name, parent = parent, parents.get(parent, parent)
    return name


def join(parents: MutableMapping[str, str], left: str, right: str) -> None:
    """Make one group of the groups of two names."""
    first, second = sorted((climb(parents, left), climb(parents, right)))
    if first != second:
        parents[second] = first
