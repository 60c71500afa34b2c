"""The core as every driver of this package builds it: one place reads the settings for it."""

from infra.keys import build_authenticator, configured_keys
from infra.settings import Settings
from streams.authentication import Authenticator
from streams.core_reducer import CoreReducer
from streams.opening import Opener


def build_reducer(
    partition: int = 0, opener: Opener | None = None, authenticator: Authenticator | None = None
) -> CoreReducer:
    """Return the core of one partition under the settings of this process.

    Macs are judged by the configured keys unless another ``authenticator`` is given.
    """
    settings = Settings()
    if authenticator is None:
        authenticator = build_authenticator(configured_keys(settings))
    return CoreReducer(
        partition=partition,
        cache_bytes=settings.cache_bytes,
        keep_bytes=settings.keep_rejected_bytes,
        authenticator=authenticator,
        opener=opener,
    )
