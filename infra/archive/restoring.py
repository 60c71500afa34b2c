"""An archive back onto an embedded log: the same records in the same order, to be folded anew.

Keys, values and headers come back byte for byte; offsets and times are those of the new log.
"""

from collections.abc import Callable
from itertools import islice
from typing import Final

from infra.archive.reading import Archive
from infra.archive.writing import ArchiveError
from streams.embedded import Embedded
from streams.ports import NewRecord

RECORDS_PER_APPEND: Final = 2_000


def restore_archive(
    embedded: Embedded, archive: Archive, progress: Callable[[int], None] | None = None
) -> int:
    """Append every record of an archive to an empty log and return how many there were.

    Raises:
        ArchiveError: the log holds events already, or the archive has several partitions, whose
            events an embedded log of one would reject as wrong_partition.

    """
    if embedded.log.bounds().end:
        raise ArchiveError("the log holds events already: name a new folder")
    if len(archive.partitions) != 1:
        raise ArchiveError(
            f"the archive has {len(archive.partitions)} partitions, an embedded log has one: "
            "replay, check and explain read it as it is, with --archive"
        )
    history = archive.history(archive.partitions[0])
    count = 0
    while chunk := list(islice(history, RECORDS_PER_APPEND)):
        embedded.append([NewRecord(e.record.key, e.record.value, e.record.headers) for e in chunk])
        count += len(chunk)
        if progress is not None:
            progress(count)
    return count
