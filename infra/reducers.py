"""The core as every driver of this package builds it: one place reads the settings for it."""

from infra.keys import build_authenticator, configured_keys
from infra.settings import Settings
from streams.authentication import Authenticator
from streams.core_reducer import CoreReducer
from streams.opening import Opener
from streams.sealed_rows import SealedRowsReducer
from streams.sealing import SealedOpener


def build_reducer(
    partition: int = 0, opener: Opener | None = None, authenticator: Authenticator | None = None
) -> CoreReducer:
    """Return the core of one partition under the settings of this process.

    Macs are judged by the configured keys unless another ``authenticator`` is given.
    """
    return _build(CoreReducer, partition, opener, authenticator)


def build_topics_reducer(
    partition: int, opener: Opener, authenticator: Authenticator | None = None
) -> CoreReducer:
    """Return the core of one partition of Kafka, where an encrypted log seals its rows too."""
    if isinstance(opener, SealedOpener):
        return _build(SealedRowsReducer, partition, opener, authenticator)
    return _build(CoreReducer, partition, opener, authenticator)


def _build(
    core: type[CoreReducer],
    partition: int,
    opener: Opener | None,
    authenticator: Authenticator | None,
) -> CoreReducer:
    settings = Settings()
    if authenticator is None:
        authenticator = build_authenticator(configured_keys(settings))
    return core(
        partition=partition,
        cache_bytes=settings.cache_bytes,
        keep_bytes=settings.keep_rejected_bytes,
        authenticator=authenticator,
        opener=opener,
    )
