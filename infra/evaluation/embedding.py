"""Sentence embeddings by a small static model that its package ships whole; no download.

The same text gives the same vector. Similarities leave this module as whole millionths, as
everything does that enters a log.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

MODEL: Final = "tokenlearn-static-model 0.1.1, 64 dimensions, int8"
MILLION: Final = 1_000_000


def measure_similarity(query: str, texts: Sequence[str]) -> tuple[int, ...]:
    """Return the cosine of each text with the query, in millionths."""
    if not texts:
        return ()
    new = [text for text in dict.fromkeys((query, *texts)) if text not in _known()]
    if new:
        found = np.asarray(_embed(new), dtype=np.float64)
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        found /= np.where(norms == 0, 1, norms)
        _known().update(zip(new, found, strict=True))
    vectors = np.stack([_known()[text] for text in texts])
    return tuple(int(one) for one in np.rint(vectors @ _known()[query] * MILLION))


def _embed(texts: list[str]) -> list[list[float]]:
    # Imported where it is used: the model comes with the extra ``evaluation``.
    from static_model import (  # type: ignore[import-untyped]  # noqa: PLC0415
        get_embeddings,
    )

    vectors: list[list[float]] = get_embeddings(texts)
    return vectors


@lru_cache(maxsize=1)
def _known() -> dict[str, npt.NDArray[np.float64]]:
    """Return the vectors computed so far; fixtures share most of their sentences."""
    return {}
