"""The ledger, as `commitments serve` runs it."""

import sys
from pathlib import Path

from benchmarks.kafka_runtimes.arguments import parse
from benchmarks.kafka_runtimes.folding import announce_first, build_reducer
from infra.logs import configure_logs
from infra.serving import ServeSettings, serve
from streams.connection import Connection

if __name__ == "__main__":
    task = parse()
    configure_logs(log_format="json", level="info")
    settings = ServeSettings(
        connection=Connection(bootstrap_servers=task.bootstrap),
        folder=Path(task.folder),
        prefix=task.prefix,
        partitions=task.partitions,
        replication=1,
        insync_min=1,
        session_timeout_s=6.0,
        instance_id=task.name,
    )

    def build(partition):
        return announce_first(build_reducer(task.reducer, partition))

    sys.exit(serve(settings, build_reducer=build))
