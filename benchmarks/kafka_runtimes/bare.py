"""A loop on confluent-kafka with rows in memory: the floor, which keeps no promise at all."""

import signal

from confluent_kafka import Consumer, Producer

from benchmarks.kafka_runtimes.arguments import parse
from benchmarks.kafka_runtimes.folding import TableRows, announce_first, build_reducer, fold_one
from streams.ports import LogRecord

COMMIT_EVERY = 5_000


def run(task):
    """Read, fold, produce; commit offsets now and then."""
    running = [True]
    signal.signal(signal.SIGTERM, lambda *_: running.clear())
    consumer = Consumer(
        {
            "bootstrap.servers": task.bootstrap,
            "group.id": f"{task.outputs}group",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6_000,
            "fetch.wait.max.ms": 100,
        }
    )
    producer = Producer({"bootstrap.servers": task.bootstrap, "linger.ms": 5, "acks": "all"})
    consumer.subscribe([task.events])
    reducers = {
        part: announce_first(build_reducer(task.reducer, part)) for part in range(task.partitions)
    }
    rows = {part: TableRows({}, []) for part in range(task.partitions)}
    folded = 0
    while running:
        for message in consumer.consume(500, 0.05):
            if message.error():
                continue
            part = message.partition()
            headers = tuple(message.headers() or ())
            record = LogRecord(
                message.offset(), message.key(), message.value(), message.timestamp()[1], headers
            )
            for output in fold_one(reducers[part], rows[part], record):
                producer.produce(task.outputs + output.topic, output.value, output.key, part)
            folded += 1
            if folded % COMMIT_EVERY == 0:
                producer.flush()
                consumer.commit(asynchronous=False)
        producer.poll(0)
    producer.flush()
    if folded:
        consumer.commit(asynchronous=False)
    consumer.close()
    return {
        (part, key): value for part, table in rows.items() for key, value in table.table.items()
    }


if __name__ == "__main__":
    from benchmarks.kafka_runtimes.state import tell_rows

    tell_rows(run(parse()))
