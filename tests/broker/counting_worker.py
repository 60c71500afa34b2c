"""A ledger worker with the simplest reducer; tests start, kill and freeze it.

Arguments: bootstrap servers, prefix, partitions, state folder, session time-out in seconds, static
id or `-`.
"""

import sys
from pathlib import Path

from infra.logs import configure_logs
from infra.serving import ServeSettings, serve
from streams.connection import Connection
from streams.ports import Finished, Folded, LogRecord, OutputRecord, RowReader


class CountingReducer:
    """Counts events per key; each output says how many the key has had."""

    version = "counting-1"

    def fold(self, rows: RowReader, record: LogRecord) -> Folded:
        key = record.key or b""
        if record.value == b"raise":
            raise RuntimeError("the core is at fault")
        text = b"%d" % (int(rows.get(key) or b"0") + 1)
        output = OutputRecord("commitments", key, b"%b %b" % (text, record.value or b""))
        return Folded(b"", {key: text}, (output,))

    def fault(self, rows: RowReader, record: LogRecord, error: Exception) -> Folded:
        output = OutputRecord("rejections", record.key or b"-", b"core_fault")
        return Folded(b"core_fault", {}, (output,))

    def gap(self, rows: RowReader, *, missing_from: int, next_offset: int) -> Folded:
        return Folded(b"gap", {b"gap": b"%d-%d" % (missing_from, next_offset)})

    def finish(self) -> Finished:
        return Finished({})

    def reset(self) -> None:
        pass


def main(
    bootstrap_servers: str, prefix: str, partitions: str, folder: str, session: str, instance: str
) -> int:
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
    return serve(settings, build_reducer=lambda _: CountingReducer())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:7]))
