"""Oracle: the label's own outcome; written by the scorer, a reference point and no run."""

from typing import Final

from infra.evaluation.variants.variant import Source, Variant

VARIANT: Final = Variant(name="oracle", log="", source=Source.LABEL, show=None)
