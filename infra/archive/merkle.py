"""Merkle trees of RFC 6962: roots, inclusion proofs and their check. Digests in, digests out.

A tree here is given by the digests of its leaves; what a leaf is made of is its owner's affair.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

LEAF: Final = b"\x00"
NODE: Final = b"\x01"
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()

Tree = tuple[Sequence[bytes], ...]
"""The levels of a tree: its leaves first, its root alone last; () for no leaf."""


def hash_leaf(content: bytes) -> bytes:
    """Return the digest of a leaf with this content."""
    return hashlib.sha256(LEAF + content).digest()


def grow_tree(leaves: Sequence[bytes]) -> Tree:
    """Return the tree over leaf digests; a node without sibling rises as it is."""
    levels = [leaves] if leaves else []
    while levels and len(levels[-1]) > 1:
        levels.append(_pair(levels[-1]))
    return tuple(levels)


def root_of(tree: Tree) -> bytes:
    """Return a tree's root; that of no leaf is the digest of nothing."""
    return tree[-1][0] if tree else EMPTY_ROOT


def compute_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf digests."""
    return root_of(grow_tree(leaves))


def prove_inclusion(tree: Tree, index: int) -> tuple[bytes, ...]:
    """Return the path from a leaf to the root, lowest sibling first (RFC 6962, 2.1.1).

    Raises:
        IndexError: the tree has no leaf of that index.

    """
    size = len(tree[0]) if tree else 0
    if not 0 <= index < size:
        raise IndexError(f"leaf {index} of {size}")
    path = []
    for level in tree[:-1]:
        if index ^ 1 < len(level):
            path.append(level[index ^ 1])
        index >>= 1
    return tuple(path)


def is_included(leaf: bytes, *, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Tell whether a path leads from the leaf at this index of a tree of this size to the root."""
    if not 0 <= index < size:
        return False
    digest, last, rest = leaf, size - 1, list(path)
    while last:
        if index & 1 or index < last:
            if not rest:
                return False
            sibling = rest.pop(0)
            pair = sibling + digest if index & 1 else digest + sibling
            digest = hashlib.sha256(NODE + pair).digest()
        index >>= 1
        last >>= 1
    return not rest and digest == root


def _pair(level: Sequence[bytes]) -> list[bytes]:
    sha256 = hashlib.sha256
    paired = [
        sha256(b"\x01" + level[place] + level[place + 1]).digest()
        for place in range(0, len(level) - 1, 2)
    ]
    if len(level) & 1:
        paired.append(level[-1])
    return paired
