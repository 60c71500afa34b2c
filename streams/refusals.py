"""Errors of a consumer that no retry mends: a right that lacks, a topic that is not there.

Lost connections are the client's affair; it tries again by itself.
"""

from typing import Any, Final

from confluent_kafka import KafkaError

from streams.failures import StoreUnavailable

_FORBIDDEN: Final = frozenset(
    {KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED}
)
_MISSING: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
    }
)


def raise_refused(error: Any, what: str) -> None:
    """Raise if the brokers refuse what is read here, which ``what`` names.

    Raises:
        StoreUnavailable: with the remedy.
    """
    if error.code() in _FORBIDDEN:
        raise StoreUnavailable(
            f"{what}: {error.str()}. Grant what `commitments acls` lists for this role"
        )
    if error.fatal() or error.code() in _MISSING:
        raise StoreUnavailable(f"{what}: {error.str()}")
