"""Failures that stop a log, a store or a ledger, each with words for the operator.

No handling lives here: whoever catches one of these decides between restart, rebuild and
exit. They are named for what happened.
"""


# ruff: noqa: N818 - a failure is named for what happened.


class StreamsError(Exception):
    """A failure of the wiring itself, never of one event; its text names place and remedy."""


class LogDamaged(StreamsError):
    """The log holds bytes that were acknowledged and no longer check; nothing reads past them."""


class LogShortened(StreamsError):
    """The log ends before, or differs at, the last folded event: it was cut or replaced."""


class LogGap(StreamsError):
    """Records between the last folded event and the log's first one are gone (spec 1.8)."""


class EventTooLong(StreamsError):
    """One record exceeds what a frame may hold; nothing of the call was appended."""


class StoreDamaged(StreamsError):
    """The row store is unreadable, foreign or differs from its head row: wipe it and rebuild."""


class RowFormatUnknown(StreamsError):
    """A row of a format that this build does not read: stop, wipe nothing."""


class StoreUnavailable(StreamsError):
    """The world under the store failed (disk full, I/O error, lock held): stop, wipe nothing."""


class FoldingElsewhere(StreamsError):
    """Another process holds the folding lock of this folder."""


class CommitAborted(StreamsError):
    """A batch was certainly not committed; it may be folded and tried again."""


class LedgerBroken(StreamsError):
    """An assertion about the ledger itself does not hold: stop, fold nothing more."""


class TooManyHalts(StreamsError):
    """More events raised within a minute than may be halted: the core itself is suspect."""


class FolderRefused(StreamsError):
    """The folder is not a log of this system, or of a format that this build does not read."""


class Fenced(StreamsError):
    """Another worker has taken the partition over: nothing of this batch was committed."""


class CommitUnknown(StreamsError):
    """Nobody answered whether a batch was committed: open the store again and see."""


class KeysMissing(StreamsError):
    """The log needs keys that this process was not given: stop, reject and acknowledge nothing."""


class KeyStoreFailed(StreamsError):
    """The key store gave neither a key nor a receipt: stop, take nothing for erased."""
