"""The final rows of each runtime, read from where they are durable: its own topics."""

from confluent_kafka.admin import AdminClient

from benchmarks.kafka_history import read_records
from benchmarks.kafka_runtimes.state import digest_rows

STATE_KEY = b"p|"
"""What quixstreams puts before a key of the state that all messages share."""


def read_rows(runtime, bootstrap, partitions):
    """Return (count, digest) of the rows that a restart of the runtime would find."""
    if runtime.name == "bare-loop":
        return tuple(runtime.told("rows") or (0, ""))
    topic = _find_topic(runtime, bootstrap)
    rows = {}
    for part in range(partitions) if topic else ():
        for message in read_records(bootstrap, topic, part):
            found = _decode(runtime.name, message.key(), message.value())
            if found is not None:
                key, value = found
                rows[part, key] = value
    return digest_rows({key: value for key, value in rows.items() if value is not None})


def _find_topic(runtime, bootstrap):
    if runtime.name == "ours":
        return f"{runtime.output_prefix}rows"
    names = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).topics
    own = [n for n in names if runtime.output_prefix in n and "changelog" in n]
    return min(own, default=None)


def _decode(name, key, value):
    if name == "ours":
        return (key[1:], value) if key[:1] == b"r" else None
    if name.startswith("quix"):
        return (key.removeprefix(STATE_KEY), value) if key.startswith(STATE_KEY) else None
    return key, value
