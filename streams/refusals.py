"""Errors of a consumer that no retry mends: a right that lacks, a topic that is not there.

Lost connections are the client's affair; it tries again by itself.
"""

from typing import Any, Final

from confluent_kafka import KafkaError

from streams.failures import StoreUnavailableError

_MISSING: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
    }
)


def raise_refused(error: Any, what: str) -> None:
    """Raise if the brokers refuse what is read here, which ``what`` names.

    That a group is forbidden says nothing to those who are members of none.

    Raises:
        StoreUnavailableError: with the remedy.
    """
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        raise _forbid(error, what)
    if error.fatal() or error.code() in _MISSING:
        raise StoreUnavailableError(f"{what}: {error.str()}")


def raise_member_refused(error: Any, what: str) -> None:
    """Raise as ``raise_refused``, and if the group may not be joined or committed to."""
    if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
        raise _forbid(error, what)
    raise_refused(error, what)


def _forbid(error: Any, what: str) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{what}: {error.str()}. Grant what `commitments acls` lists for this role"
    )
