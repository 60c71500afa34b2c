"""Tool/memory: a memory library keeps every line and is asked for the request's words.

The library is agentrecall (agentrecall-db on the package index): one SQLite table with keyword
recall, offline. What a line says later does not replace what one said before.
"""

from typing import Final

from agentrecall import Memory

from infra.evaluation.shown import Shown, take_within
from infra.evaluation.variants.variant import (
    BUDGET,
    Material,
    Source,
    Variant,
    read_request,
    show_text,
)

RECALLED_MAX: Final = 40


def show_recalled(material: Material) -> Shown:
    """Show what the memory recalls for the request, best first, within the budget."""
    query = read_request(material.fixture).text or ""
    with Memory(":memory:", embeddings=False) as memory:
        memory.add_many([line.text for line in material.lines])
        hits = memory.search(query, k=RECALLED_MAX)
    ranked = [material.lines[hit.id - 1] for hit in hits]
    return show_text(material, take_within(ranked, BUDGET))


VARIANT: Final = Variant(
    name="tool_memory", log="tool_memory", source=Source.ANSWER, show=show_recalled
)
