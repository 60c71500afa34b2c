"""Raw: the newest history that fits the budget, as text; what the generator says stands."""

from dataclasses import replace
from typing import Final

from infra.evaluation.shown import Shown, take_within
from infra.evaluation.variants.variant import (
    BUDGET,
    Material,
    Source,
    Variant,
    score_by_recency,
    show_text,
)


def show_newest(material: Material) -> Shown:
    """Show the newest lines within the budget, in their order."""
    newest = take_within(reversed(material.lines), BUDGET)
    return show_text(material, newest[::-1])


VARIANT: Final = Variant(
    name="raw", log="raw", source=Source.ANSWER, show=show_newest, score=score_by_recency
)
GATED: Final = replace(VARIANT, name="raw_gated", source=Source.PIPELINE)
