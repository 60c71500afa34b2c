"""Runtime without CBEA: the same state, gate and repair over relevance alone, no reserve."""

from dataclasses import replace
from typing import Final

from infra.evaluation.variants import cbea_lcv

VARIANT: Final = replace(cbea_lcv.VARIANT, name="without_cbea", log="without_cbea", selector="topk")
