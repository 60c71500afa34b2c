"""Long context: the whole history as text, without a budget."""

from dataclasses import replace
from typing import Final

from infra.evaluation.shown import Shown
from infra.evaluation.variants.variant import (
    WITHOUT_LIMIT,
    Material,
    Source,
    Variant,
    score_by_recency,
    show_text,
)


def show_all(material: Material) -> Shown:
    """Show every line."""
    return show_text(material, material.lines)


VARIANT: Final = Variant(
    name="long_context",
    log="long_context",
    source=Source.ANSWER,
    show=show_all,
    score=score_by_recency,
    budget_main=WITHOUT_LIMIT,
    budget_tail=0,
)
GATED: Final = replace(VARIANT, name="long_context_gated", source=Source.PIPELINE)
