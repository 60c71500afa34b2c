"""A ledger worker with the simplest reducer; tests start, kill and freeze it.

Arguments: bootstrap servers, prefix, partitions, state folder, session time-out in seconds, static
id or `-`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from infra.logs import configure_logs
from infra.serving import ServeSettings, serve
from streams.connection import Connection
from streams.ports import Reducer
from tests.broker.counting import CountingReducer


def main(arguments: list[str], build_reducer: Callable[[int], Reducer]) -> int:
    bootstrap_servers, prefix, partitions, folder, session, instance = arguments
    configure_logs(log_format="json", level="info")
    settings = ServeSettings(
        connection=Connection(bootstrap_servers=bootstrap_servers),
        folder=Path(folder),
        prefix=prefix,
        partitions=int(partitions),
        replication=1,
        insync_min=1,
        session_timeout_s=float(session),
        instance_id=None if instance == "-" else instance,
    )
    return serve(settings, build_reducer=build_reducer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:7], lambda _: CountingReducer()))
