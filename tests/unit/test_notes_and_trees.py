"""Merkle trees as RFC 6962 has them, and signed notes as C2SP has them: both by known answers."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.archive.checkpoint import CheckpointError, parse_checkpoint
from infra.archive.merkle import (
    compute_root,
    grow_tree,
    hash_leaf,
    is_included,
    prove_inclusion,
)
from infra.archive.notes import (
    NoteError,
    generate_key,
    is_signed_by,
    parse_signer,
    parse_verifier,
    render_signer,
    render_verifier,
    sign_note,
    verifier_of,
)

LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657",
          "606162636465666768696a6b6c6d6e6f"]  # fmt: skip
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
SIGNER = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"


@pytest.mark.parametrize("size", sorted(ROOTS))
def test_roots_are_those_of_certificate_transparency(size):
    """The known test tree gives the known roots."""
    leaves = [hash_leaf(bytes.fromhex(content)) for content in LEAVES[:size]]

    assert ROOTS[size] == compute_root(leaves).hex()


def test_the_empty_tree_has_the_digest_of_nothing():
    """RFC 6962: the root over no leaf is SHA-256 of the empty string."""
    assert hashlib.sha256(b"").digest() == compute_root([])


@given(st.integers(1, 70), st.data())
def test_every_leaf_is_provably_included(size, data):
    """A proof leads from its leaf to the root, and from no other leaf, place, size or path."""
    leaves = [hash_leaf(str(number).encode()) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    root, path = compute_root(leaves), prove_inclusion(grow_tree(leaves), index)
    proof = {"index": index, "size": size, "path": path, "root": root}

    assert is_included(leaves[index], **proof)
    assert not is_included(hash_leaf(b"other"), **proof)
    assert not is_included(leaves[index], **{**proof, "path": (*path, root)})
    for other in (index - 1, index + 1):
        if 0 <= other < size:
            assert not is_included(leaves[index], **{**proof, "index": other})
    if path:
        assert not is_included(leaves[index], **{**proof, "path": path[1:]})


def test_keys_are_spelled_as_other_tools_spell_them():
    """The known private key has the known public one, and both read back."""
    key = parse_signer(SIGNER)

    assert VERIFIER == render_verifier(verifier_of(key))
    assert SIGNER == render_signer(key)
    assert verifier_of(key) == parse_verifier(VERIFIER)


def test_a_note_is_signed_by_its_key_alone():
    """A changed text, a changed signature or another key is no valid signature."""
    key, other = generate_key("audit.example"), generate_key("audit.example")
    note = sign_note("first\nsecond\n", key)

    assert is_signed_by(note, verifier_of(key))
    assert not is_signed_by(note, verifier_of(other))
    assert not is_signed_by(note.replace("second", "third"), verifier_of(key))


@pytest.mark.parametrize("text", ["", "no", "a+b", f"{VERIFIER}x", VERIFIER.replace("c7", "c8")])
def test_what_is_no_key_is_refused(text):
    """A key is read whole or refused."""
    with pytest.raises(NoteError):
        parse_verifier(text)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb"])
def test_a_key_name_has_no_space_and_no_plus(name):
    """Such names could not be told from the rest of a key."""
    with pytest.raises(NoteError):
        generate_key(name)


@pytest.mark.parametrize("text", ["a\n", "a\nb\nc\nd\n", "o\n1\nAA==\nmanifest AA==\nx 0 1 AA==\n"])
def test_a_note_of_something_else_is_no_checkpoint(text):
    """Only a note with origin, size, roots and partitions is one."""
    with pytest.raises(CheckpointError):
        parse_checkpoint(sign_note(text, generate_key("k")))
