"""A stateful quixstreams application; its packages stand apart, see the make target."""

from quixstreams import Application
from quixstreams.models import Deserializer, Serializer
from quixstreams.models.topics import TopicConfig
from quixstreams.state.rocksdb import RocksDBOptions

from benchmarks.kafka_runtimes.arguments import parse
from benchmarks.kafka_runtimes.folding import TableRows, announce_first, build_reducer, fold_one
from streams.ports import LogRecord

ONE_KEY = b"p"
"""State is kept by message key; rows of a partition belong to no user, so all share one key."""


class KeyKeeper(Deserializer):
    """Gives every message the same key for the state, and remembers its own."""

    def __init__(self):
        super().__init__()
        self.key = None

    def __call__(self, value, ctx):
        self.key = value
        return ONE_KEY


class Keyed(Deserializer):
    """Gives the value with the key that was remembered just before."""

    def __init__(self, keeper):
        super().__init__()
        self._keeper = keeper

    def __call__(self, value, ctx):
        return self._keeper.key, value


class Body(Serializer):
    """Writes an output's value."""

    def __call__(self, value, ctx):
        return value.value


class StateTable(dict):
    """The state of one partition as a mapping; the runtime hands the state over per message."""

    state = None

    def get(self, key, default=None):
        return self.state.get_bytes(key, default)

    def __getitem__(self, key):
        return self.state.get_bytes(key)

    def __setitem__(self, key, value):
        self.state.set_bytes(key, value)

    def __delitem__(self, key):
        self.state.delete(key)


def run(task):
    """Run until a signal ends it."""
    app = Application(
        broker_address=task.bootstrap,
        consumer_group=f"{task.outputs}group",
        auto_offset_reset="earliest",
        processing_guarantee=task.guarantee.replace("_", "-"),
        state_dir=task.folder,
        loglevel="ERROR",
        rocksdb_options=RocksDBOptions(dumps=bytes, loads=bytes),
        consumer_extra_config={"session.timeout.ms": 6_000, "fetch.wait.max.ms": 100},
    )
    keeper = KeyKeeper()
    events = app.topic(task.events, key_deserializer=keeper, value_deserializer=Keyed(keeper))
    config = TopicConfig(num_partitions=task.partitions, replication_factor=1)
    names = ("commitments", "repairs", "failures", "packets", "surfaces", "rejections")
    topics = {
        name: app.topic(
            task.outputs + name, key_serializer="bytes", value_serializer=Body(), config=config
        )
        for name in names
    }
    reducers, rows = {}, {}

    def fold(value, _key, timestamp, _headers, state):
        from quixstreams.context import message_context  # noqa: PLC0415  # only inside a callback

        context = message_context()
        part = context.partition
        if part not in rows:
            reducers[part] = announce_first(build_reducer(task.reducer, part))
            rows[part] = TableRows(StateTable(), [])
        rows[part].table.state = state
        record = LogRecord(context.offset, value[0], value[1], timestamp, ())
        return list(fold_one(reducers[part], rows[part], record))

    frame = app.dataframe(events)
    frame = frame.apply(fold, stateful=True, metadata=True, expand=True)
    frame.to_topic(lambda output, *_: topics[output.topic], key=lambda output: output.key)
    app.run()


if __name__ == "__main__":
    run(parse())
