"""Record keys go where Java's clients put them (spec 1.1)."""

import pytest

from schemas.identity import record_key
from schemas.partition import murmur2, partition_of

VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", sorted(VECTORS))
def test_murmur2_is_that_of_the_java_client(key):
    """The hash of a key has the bits that Kafka's own test vectors give."""
    assert VECTORS[key] % 2**32 == murmur2(key)


def test_every_key_has_one_partition():
    """A key's partition is the positive hash modulo their number; one partition takes all."""
    key = record_key("acme", "ada")

    assert (murmur2(key) & 0x7FFFFFFF) % 16 == partition_of(key, 16)
    assert 0 == partition_of(key, 1)
