"""An ordinary Faust agent with a table: what the documentation of Faust shows, no more."""

import logging

import faust

from benchmarks.kafka_runtimes.arguments import parse
from benchmarks.kafka_runtimes.folding import TableRows, announce_first, build_reducer, fold_one
from streams.ports import LogRecord

SESSION_S = 6.0


def build_app(task):
    """Return an app whose agent folds `events` into a table on rocksdict."""
    app = faust.App(
        f"{task.outputs}app",
        broker=f"kafka://{task.bootstrap}",
        store="rocksdb://?driver=rocksdict",
        datadir=task.folder,
        topic_partitions=task.partitions,
        topic_replication_factor=1,
        topic_disable_leader=True,
        processing_guarantee=task.guarantee,
        broker_session_timeout=SESSION_S,
        broker_heartbeat_interval=SESSION_S / 4,
        broker_request_timeout=15.0,
        key_serializer="raw",
        value_serializer="raw",
        web_enabled=False,
        stream_wait_empty=False,
    )
    events = app.topic(task.events, key_type=bytes, value_type=bytes)
    table = app.Table(
        "rows",
        partitions=task.partitions,
        key_type=bytes,
        value_type=bytes,
    )
    reducers, rows, topics = {}, {}, {}

    async def fold(stream):
        async for event in stream.events():
            message = event.message
            part = message.partition
            if part not in rows:
                reducers[part] = announce_first(build_reducer(task.reducer, part))
                rows[part] = TableRows(table, list(table.keys()) if task.reducer == "core" else [])
            record = LogRecord(
                message.offset, message.key, message.value, int(message.timestamp * 1000), ()
            )
            for output in fold_one(reducers[part], rows[part], record):
                if output.topic not in topics:
                    topics[output.topic] = app.topic(
                        task.outputs + output.topic, key_type=bytes, value_type=bytes
                    )
                await topics[output.topic].send(key=output.key, value=output.value, partition=part)

    app.agent(events, name="fold")(fold)
    return app


if __name__ == "__main__":
    asked = parse()
    logging.disable(logging.WARNING)
    faust.Worker(build_app(asked), loglevel="ERROR", quiet=True).execute_from_commandline()
