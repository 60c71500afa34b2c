"""The diagnostics beside the main table: selectors, ablations, payload, sizes, output budgets.

Each returns rows for a table; what they are computed from is the scored rows or packets of runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from infra.evaluation.bootstrap import by_case, compare_pairs
from infra.evaluation.metrics import find_mean_failure, measure, measure_all
from infra.evaluation.scoring import Row
from infra.evaluation.tables import FULL, Grouped, TableRow

SIZES: Final = (16, 32, 64, 128, 256)
"""Upper bounds of the classes of history length; longer ones are a class of their own."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an ablation should do: against this variant, worsen this metric in this direction."""

    ablation: str
    removes: str
    reference: str
    metric: str
    direction: int


CLAIMS: Final = (
    Claim("no_coverage", "coverage term", FULL, "avail", -1),
    Claim("no_coverage", "coverage term", FULL, "control", -1),
    Claim("no_tail_reserve_ungated", "tail reserve", "no_validation", "wit", 1),
    Claim("no_debt_ungated", "debt term", "no_validation", "cons", 1),
    Claim("no_validation", "validation", FULL, "ohcvr", 1),
    Claim("no_validation", "validation", FULL, "ecf", 1),
    Claim("no_validation", "validation", FULL, "nfer", 1),
    Claim("no_repair", "repair", FULL, "repair", -1),
)


def check_ablations(grouped: Grouped) -> list[TableRow]:
    """Return each claim with both values, the paired difference and whether it hurts.

    It hurts when the case-cluster interval of the difference lies on the claimed side of zero.
    """
    found = []
    for claim in CLAIMS:
        if claim.ablation not in grouped or claim.reference not in grouped:
            continue
        ablated, whole = grouped[claim.ablation], grouped[claim.reference]
        left, right = measure(ablated, claim.metric), measure(whole, claim.metric)
        interval = compare_pairs(ablated, whole, unit=by_case)[claim.metric]
        hurts = None
        if interval is not None:
            hurts = interval.low > 0 if claim.direction > 0 else interval.high < 0
        found.append(
            {
                "ablation": claim.ablation,
                "removes": claim.removes,
                "reference": claim.reference,
                "metric": claim.metric,
                "value": left.value,
                "reference_value": right.value,
                "case_low": None if interval is None else interval.low,
                "case_high": None if interval is None else interval.high,
                "hurts": hurts,
            }
        )
    return found


def compare_selectors(grouped: Grouped, selectors: Mapping[str, str]) -> list[TableRow]:
    """Return per selector the typed control evidence retained, and what came of its turns."""
    found = []
    for selector, variant in selectors.items():
        if variant not in grouped:
            continue
        rows = grouped[variant]
        control = measure(rows, "control")
        found.append(
            {
                "selector": selector,
                "variant": variant,
                "retained": control.numerator,
                "labelled": control.denominator,
                "share": control.value,
                "availability": measure(rows, "avail").value,
                "repair": measure(rows, "repair").value,
                "intrusive": measure(rows, "intrusive").value,
            }
        )
    return found


def break_down(grouped: Grouped) -> list[TableRow]:
    """Return the main figures per variant and history length, number of obligations, bucket."""
    found = []
    for variant, rows in grouped.items():
        for by, classes in (
            ("history", _split_history(rows)),
            ("obligations", _split(rows, [str(row.obligations) for row in rows])),
            ("bucket", _split(rows, [row.bucket.value for row in rows])),
        ):
            for name, members in classes.items():
                ratios = measure_all(members)
                found.append(
                    {
                        "variant": variant,
                        "by": by,
                        "class": name,
                        "attempted": len(members),
                        "availability": ratios["avail"].value,
                        "mean_control_failure": find_mean_failure(ratios),
                        "pass": ratios["pass"].value,
                        "not_passed": len(members) - ratios["pass"].numerator,
                    }
                )
    return found


def compare_payload(costs: Mapping[str, Mapping[str, Sequence[int]]]) -> list[TableRow]:
    """Return per history length the median payload of each interface and the share saved.

    ``costs`` maps a tier to variants to cost units; savings are against long context.
    """
    found = []
    for tier, variants in costs.items():
        whole = median(variants["long_context"])
        for variant, values in variants.items():
            middle = median(values)
            found.append(
                {
                    "tier": tier,
                    "variant": variant,
                    "fixtures": len(values),
                    "median_cost": middle,
                    "saved": 1 - middle / whole if whole else None,
                }
            )
    return found


def _split_history(rows: Sequence[Row]) -> dict[str, list[Row]]:
    names = []
    for row in rows:
        bound = next((size for size in SIZES if row.history_events <= size), None)
        names.append(f"over {SIZES[-1]}" if bound is None else f"up to {bound}")
    order = [*(f"up to {size}" for size in SIZES), f"over {SIZES[-1]}"]
    split = _split(rows, names)
    return {name: split[name] for name in order if name in split}


def _split(rows: Sequence[Row], names: Sequence[str]) -> dict[str, list[Row]]:
    classes: dict[str, list[Row]] = {}
    for row, name in zip(rows, names, strict=True):
        classes.setdefault(name, []).append(row)
    return {name: classes[name] for name in sorted(classes)}
