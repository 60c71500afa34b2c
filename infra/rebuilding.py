"""The rows of a set of topics built anew, partition by partition, from topics and an archive.

Refuses while workers own partitions: they would fence the rebuild, and it them. Folding and proof
are streams/rebuilding.py's.
"""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException

from infra.archive.reading import Archive
from infra.archive.whole_log import WholeLog
from infra.opening import open_topics
from infra.reducers import build_topics_reducer
from schemas.topics import EVENTS, name_topic
from streams.authentication import RecordedCheck
from streams.connection import Connection, describe_for_ledger
from streams.core_reducer import CoreReducer
from streams.failures import StoreUnavailableError
from streams.kafka_log import describe_topic_id
from streams.kafka_store import Place
from streams.opening import Opener
from streams.rebuilding import FindFate, Rebuilt, rebuild_partition
from streams.transactions import ask_cluster_id

ASK_TIMEOUT_S: Final = 10.0

Progress = Callable[[int, int], None]


class WorkersRunningError(Exception):
    """Workers own partitions of these topics; the message says what to do."""


def rebuild(
    connection: Connection,
    *,
    prefix: str,
    archive: Archive | None,
    partitions: Sequence[int] | None,
    progress: Progress,
) -> list[Rebuilt]:
    """Rebuild the rows of these partitions, or of all, and say what came out of each.

    Raises:
        WorkersRunningError: before anything is fenced.
        StreamsError, ArchiveError: see rebuild_partition and WholeLog.
    """
    cluster_id = ask_cluster_id(connection)
    _refuse_running(connection, f"{prefix}ledger")
    topic_id, count = describe_topic_id(connection, name_topic(EVENTS, prefix=prefix))
    opener = open_topics(connection, prefix=prefix)
    rebuilt = []
    with tempfile.TemporaryDirectory(prefix="commitments-rebuild-") as scratch:
        for number in range(count) if partitions is None else partitions:
            place = Place(
                connection=connection,
                cluster_id=cluster_id,
                prefix=prefix,
                partition=number,
                folder=Path(scratch) / str(number),
            )
            with WholeLog(
                connection, prefix=prefix, topic_id=topic_id, partition=number, archive=archive
            ) as log:
                core = partial(_build_core, number, opener)
                rebuilt.append(rebuild_partition(place, log, core, progress))
    return rebuilt


def _build_core(partition: int, opener: Opener, find_fate: FindFate) -> CoreReducer:
    return build_topics_reducer(partition, opener, RecordedCheck(find_fate))


def _refuse_running(connection: Connection, group: str) -> None:
    admin = connection.clients.admin(describe_for_ledger(connection))
    try:
        future = admin.describe_consumer_groups([group], request_timeout=ASK_TIMEOUT_S)[group]
        members = len(future.result(2 * ASK_TIMEOUT_S).members)
    except KafkaException as error:
        raise StoreUnavailableError(f"group {group}: {error}") from error
    if members:
        raise WorkersRunningError(
            f"{members} workers own partitions of group {group}: stop them, then run this again"
        )
