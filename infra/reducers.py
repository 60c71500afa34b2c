"""The core as every driver of this package builds it: one place reads the settings for it."""

from infra.keys import build_authenticator, configured_keys
from infra.settings import Settings
from streams.core_reducer import CoreReducer
from streams.opening import Opener


def build_reducer(partition: int = 0, opener: Opener | None = None) -> CoreReducer:
    """Return the core of one partition under the settings of this process."""
    settings = Settings()
    return CoreReducer(
        partition=partition,
        cache_bytes=settings.cache_bytes,
        keep_bytes=settings.keep_rejected_bytes,
        authenticator=build_authenticator(configured_keys(settings)),
        opener=opener,
    )
