"""Tool/memory: a memory library keeps every line and is asked three times, as a tool would be.

It is asked for the request's words, for records of offers and for what was confirmed. The
library is agentrecall (agentrecall-db on the package index): one SQLite table with keyword
recall, offline. What a line says later does not replace what one said before.
"""

from itertools import zip_longest
from typing import Final

from infra.evaluation.shown import Shown, take_within
from infra.evaluation.variants.variant import (
    BUDGET,
    Material,
    Source,
    Variant,
    read_request,
    show_text,
)

RECALLED_MAX: Final = 20  # By each question.
QUESTIONS: Final = ("record euros", "user confirmed slots")


def show_recalled(material: Material) -> Shown:
    """Show what the memory recalls, the best of each question in turn, within the budget."""
    # Imported where it is used: the library comes with the extra ``evaluation``.
    from agentrecall import Memory  # type: ignore[import-untyped]  # noqa: PLC0415

    request = read_request(material.fixture).text or ""
    with Memory(":memory:", embeddings=False) as memory:
        memory.add_many([line.text for line in material.lines])
        answers = [memory.search(asked, k=RECALLED_MAX) for asked in (request, *QUESTIONS)]
    ranked = dict.fromkeys(
        hit.id - 1 for hits in zip_longest(*answers) for hit in hits if hit is not None
    )
    return show_text(material, take_within((material.lines[place] for place in ranked), BUDGET))


VARIANT: Final = Variant(
    name="tool_memory", log="tool_memory", source=Source.ANSWER, show=show_recalled
)
