"""Validator only: raw's text and raw's candidates, hard predicates and repair behind them.

Nothing is activated and no evidence is required: the catalogue spares every dimension.
"""

from typing import Final

from infra.evaluation.variants.raw import show_newest
from infra.evaluation.variants.variant import (
    ALL_DIMENSIONS,
    Source,
    Variant,
    score_by_recency,
)

VARIANT: Final = Variant(
    name="validator_only",
    log="validator_only",
    source=Source.PIPELINE,
    show=show_newest,
    score=score_by_recency,
    spared=ALL_DIMENSIONS,
)
