"""The right to append, asked for before serving: who may not write must not wait for the first.

Only the question is here; what a role needs is listed in infra/acls.py.
"""

from typing import Final

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient

from streams.connection import Connection, describe_for_ledger
from streams.failures import StoreUnavailableError

ASK_TIMEOUT_S: Final = 20.0


def require_write(connection: Connection, topic: str) -> None:
    """Return if this principal may append to the topic; brokers without rights allow everything.

    Raises:
        StoreUnavailableError: it lacks the right, with the remedy, or the brokers do not say.

    """
    admin = AdminClient(describe_for_ledger(connection))
    asked = admin.describe_topics(
        TopicCollection([topic]),
        include_authorized_operations=True,
        request_timeout=ASK_TIMEOUT_S,
    )
    try:
        allowed = asked[topic].result(ASK_TIMEOUT_S).authorized_operations
    except (KafkaException, TimeoutError) as error:
        raise StoreUnavailableError(f"{topic}: the brokers do not describe it: {error}") from error
    # None: a broker that knows no such question.
    if allowed is not None and not {AclOperation.WRITE, AclOperation.ALL} & set(allowed):
        raise StoreUnavailableError(
            f"{topic}: authorization failed: this principal lacks the right Write. "
            "Grant what `commitments acls` lists for this role"
        )
