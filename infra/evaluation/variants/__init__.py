"""The comparison interfaces: nine variants, two of them also gated, ablations and selectors."""

from dataclasses import replace
from typing import Final

from infra.evaluation.variants import (
    cbea_lcv,
    dense,
    long_context,
    oracle,
    raw,
    summary,
    tool_memory,
    validator_only,
    without_cbea,
)
from infra.evaluation.variants.variant import Source, Variant

NINE: Final = (
    oracle.VARIANT,
    raw.VARIANT,
    summary.VARIANT,
    dense.VARIANT,
    long_context.VARIANT,
    tool_memory.VARIANT,
    validator_only.VARIANT,
    without_cbea.VARIANT,
    cbea_lcv.VARIANT,
)
GATED: Final = (raw.GATED, long_context.GATED)


def _reselect(selector: str, source: Source, suffix: str = "") -> Variant:
    return replace(
        cbea_lcv.VARIANT, name=f"{selector}{suffix}", log=selector, selector=selector, source=source
    )


SELECTORS: Final = ("paper_j", "no_coverage", "no_tail_reserve", "no_debt", "mmr")
ABLATIONS: Final = (
    cbea_lcv.WITHOUT_VALIDATION,
    cbea_lcv.WITHOUT_REPAIR,
    *(_reselect(selector, Source.PIPELINE) for selector in SELECTORS),
    *(_reselect(selector, Source.ANSWER, "_ungated") for selector in SELECTORS),
    replace(without_cbea.VARIANT, name="without_cbea_ungated", source=Source.ANSWER),
)

__all__ = ["ABLATIONS", "GATED", "NINE", "SELECTORS", "Source", "Variant"]
