"""Dense retrieval: the lines nearest to the request in meaning, best first, within the budget."""

from typing import Final

from infra.evaluation.embedding import measure_similarity
from infra.evaluation.shown import Shown, take_within
from infra.evaluation.variants.variant import (
    BUDGET,
    Material,
    Source,
    Variant,
    read_request,
    show_text,
)


def show_nearest(material: Material) -> Shown:
    """Show the nearest lines; ties go to the older one."""
    query = read_request(material.fixture).text or ""
    scores = measure_similarity(query, [line.text for line in material.lines])
    ranked = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    taken = take_within((material.lines[place] for place in ranked), BUDGET)
    return show_text(material, taken)


VARIANT: Final = Variant(name="dense", log="dense", source=Source.ANSWER, show=show_nearest)
