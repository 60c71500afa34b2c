"""Failures that stop a log, a store or a ledger, each with words for the operator.

No handling lives here: whoever catches one of these decides between restart, rebuild and
exit.
"""


class StreamsError(Exception):
    """A failure of the wiring itself, never of one event; its text names place and remedy."""


class LogDamagedError(StreamsError):
    """The log holds bytes that were acknowledged and no longer check; nothing reads past them."""


class LogShortenedError(StreamsError):
    """The log ends before, or differs at, the last folded event: it was cut or replaced."""


class LogGapError(StreamsError):
    """Records between the last folded event and the log's first one are gone (spec 1.8)."""


class EventTooLongError(StreamsError):
    """One record exceeds what a frame may hold; nothing of the call was appended."""


class StoreDamagedError(StreamsError):
    """The row store is unreadable, foreign or differs from its head row: wipe it and rebuild."""


class RowFormatUnknownError(StreamsError):
    """A row of a format that this build does not read: stop, wipe nothing."""


class StoreUnavailableError(StreamsError):
    """The world under the store failed (disk full, I/O error, lock held): stop, wipe nothing."""


class FoldingElsewhereError(StreamsError):
    """Another process holds the folding lock of this folder."""


class CommitAbortedError(StreamsError):
    """A batch was certainly not committed; it may be folded and tried again."""


class LedgerBrokenError(StreamsError):
    """An assertion about the ledger itself does not hold: stop, fold nothing more."""


class TooManyHaltsError(StreamsError):
    """More events raised within a minute than may be halted: the core itself is suspect."""


class FolderRefusedError(StreamsError):
    """The folder is not a log of this system, or of a format that this build does not read."""


class FencedError(StreamsError):
    """Another worker has taken the partition over: nothing of this batch was committed."""


class CommitUnknownError(StreamsError):
    """Nobody answered whether a batch was committed: open the store again and see."""


class KeysMissingError(StreamsError):
    """The log needs keys that this process was not given: stop, reject and acknowledge nothing."""


class KeyStoreFailedError(StreamsError):
    """The key store gave neither a key nor a receipt: stop, take nothing for erased."""
