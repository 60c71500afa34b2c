"""A certified upper bound on the two-level optimum (spec 4.5), by integer duality.

Any multipliers give a valid bound; a few subgradient steps make it tight. Whole numbers
throughout, rounded up where they must be: the bound is never below the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from processors.activation.instance import Instance
from processors.activation.objective import Value
from processors.activation.problem import MILLION

_Column = NDArray[Any]

_SAFE_BITS: Final = 62
"""Sums and products stay below 2^62 in int64; a problem beyond computes on Python integers."""

_LEVEL_PRICE: Final = 4
"""What a unit of covered weight is charged beside J: more makes level one bind harder."""


@dataclass(frozen=True, slots=True)
class _Relaxation:
    """Fitting units as columns, bits as a 0/1 matrix, and both budgets."""

    linear: _Column
    cost: _Column
    ordinary: _Column
    cost_ordinary: _Column
    cost_reserved: _Column
    matrix: _Column
    budget_main: int
    budget_tail: int
    wide: int


def certify(instance: Instance, reached: Value, *, steps: int, level_proven: bool) -> Value:
    """Give a value that no set within the budgets exceeds under the two-level order.

    Its covered weight bounds that of every set; its J bounds the J of every set that covers
    at least the weight reached, so also the optimum's and the J reached itself.

    Args:
        instance: the prepared problem, with its true weights of level one.
        reached: the value of a set found for it.
        steps: how many subgradient steps may tighten each level.
        level_proven: whether the weight reached is known to be the greatest.
    """
    weight = sum(w for bit, w in enumerate(instance.priorities) if instance.coverable >> bit & 1)
    relaxation = _relax(instance)
    if level_proven:
        weight = reached.covered_weight
    elif reached.covered_weight < weight:
        plain = _Prices(
            linear=relaxation.linear * 0,
            worth=[w * MILLION for w in instance.priorities],
            charge=0,
            target=reached.covered_weight * MILLION,
        )
        weight = min(weight, _descend(relaxation, plain, steps=steps) // MILLION)
    full = _Prices(
        linear=relaxation.linear,
        worth=[
            value + _LEVEL_PRICE * MILLION * priority
            for value, priority in zip(instance.values, instance.priorities, strict=True)
        ],
        charge=_LEVEL_PRICE * MILLION * reached.covered_weight,
        target=reached.j,
    )
    return Value(weight, _descend(relaxation, full, steps=steps))


@dataclass(frozen=True, slots=True)
class _Prices:
    """What a level maximises: linear part per unit, worth per bit, less a fixed charge."""

    linear: _Column
    worth: list[int]
    charge: int
    target: int


def _relax(instance: Instance) -> _Relaxation:
    fitting = instance.fitting
    columns = (instance.linear, instance.cost, instance.reserved, instance.masks)
    if len(fitting) == len(instance.cost):
        linear, cost, reserved, masks = map(list, columns)
    else:
        linear, cost, reserved, masks = ([c[unit] for unit in fitting] for c in columns)
    most = max(max(linear, default=0), -min(linear, default=0), 1)
    most += sum(instance.values) + _LEVEL_PRICE * MILLION * sum(instance.priorities)
    wide = most.bit_length()
    most_cost = max(cost, default=1) + instance.budget_main + instance.budget_tail + 1
    spare = _SAFE_BITS - len(fitting).bit_length()
    narrow = wide + 2 < spare and most_cost.bit_length() < spare
    kind: Any = np.int64 if narrow else object
    costs = np.array(cost, dtype=kind)
    tail = np.array(reserved, dtype=bool) & (costs <= instance.budget_tail).astype(bool)
    return _Relaxation(
        linear=np.array(linear, dtype=kind),
        cost=costs,
        ordinary=~tail,
        cost_ordinary=np.where(tail, 0, costs),
        cost_reserved=np.where(tail, costs, 0),
        matrix=_spread_bits(masks, len(instance.values)).astype(kind),
        budget_main=instance.budget_main,
        budget_tail=instance.budget_tail,
        wide=wide,
    )


def _spread_bits(masks: list[int], width: int) -> _Column:
    """Write masks as rows of 0 and 1."""
    if width <= 64:
        rows = np.array(masks, dtype="<u8").view(np.uint8).reshape(len(masks), 8)
    else:
        size = (width + 7) // 8
        packed = b"".join([mask.to_bytes(size, "little") for mask in masks])
        rows = np.frombuffer(packed, dtype=np.uint8).reshape(len(masks), size)
    return np.unpackbits(rows, axis=1, count=width, bitorder="little")


def _descend(relaxation: _Relaxation, prices: _Prices, *, steps: int) -> int:
    """Lower the bound by subgradient steps over one multiplier per bit; give the least found.

    A bit is worth w once: w * [covered] <= (w - m) + m * (units that cover it), 0 <= m <= w.
    """
    matrix = relaxation.matrix
    coverable = matrix.any(axis=0) if len(matrix) else np.zeros(matrix.shape[1], dtype=bool)
    kind = relaxation.linear.dtype
    worth = np.array(prices.worth, dtype=kind) * coverable.astype(kind)
    total = int(worth.sum()) - prices.charge
    multipliers = worth * 0
    best: int | None = None
    for step in range(steps + 1):
        profit = prices.linear + matrix @ multipliers
        filled, taken = _fill_budgets(relaxation, profit)
        bound = total - int(multipliers.sum()) + filled
        best = bound if best is None else min(best, bound)
        slope = taken.astype(kind) @ matrix - coverable.astype(kind)
        norm = int((slope * slope).sum())
        if step == steps or norm == 0 or best <= prices.target:
            break
        length = max(1, (bound - prices.target) // norm)
        multipliers = np.clip(multipliers - slope * length, 0, worth)
    assert best is not None
    return best


def _fill_budgets(relaxation: _Relaxation, profit: _Column) -> tuple[int, _Column]:
    """Bound the best profit of units taken in parts, and say which units it takes.

    Ordinary units share main, all units share both budgets. With a price l per cost of both
    and m per cost of main, profit <= l*B + m*B_main + sum of max(0, p - price*cost) for any
    l, m >= 0; the prices of the greedy filling by profit per cost make that sum least.
    """
    cost, ordinary = relaxation.cost, relaxation.ordinary
    shift = _SAFE_BITS - 1 - relaxation.wide if profit.dtype != object else 32
    dense = (profit << shift) // np.maximum(cost, 1)
    dense[cost == 0] = 1 << _SAFE_BITS
    dense[profit <= 0] = -1
    order = np.argsort(-dense, kind="stable")[: int((profit > 0).sum())]
    spent_main = np.cumsum(relaxation.cost_ordinary[order])
    spent_all = np.minimum(spent_main, relaxation.budget_main) + np.cumsum(
        relaxation.cost_reserved[order]
    )
    price = _find_price(dense[order], spent_all, relaxation.budget_main + relaxation.budget_tail)
    price_main = max(price, _find_price(dense[order], spent_main, relaxation.budget_main))
    charged = np.where(ordinary, price_main, price)
    taken = dense >= np.maximum(charged, 0)
    left = profit[taken] - (charged[taken] * cost[taken] >> shift)
    both = relaxation.budget_main + relaxation.budget_tail
    paid = price * both + (price_main - price) * relaxation.budget_main
    return -(-paid >> shift) + int(left.sum()), taken


def _find_price(dense: _Column, spent: _Column, budget: int) -> int:
    """Give the density at which the budget runs out, 0 when it never does."""
    over = spent > budget
    if not over.any():
        return 0
    return int(dense[int(np.argmax(over))])
