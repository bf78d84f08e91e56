"""Where two networks that have parted would meet again: the end of what is other in each.

A tensor of OTHER is given FILE's numbers in place of its own; where what is computed of it then is
FILE's again, all that is other lies before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gradstep.core.checks.alignment.equal_numbers import are_arranged, as_arranged
from gradstep.core.checks.alignment.network_run import NetworkRun, Values
from gradstep.core.checks.alignment.value_matching import Matching, NumberIndex, Pairs
from gradstep.core.graph.model import TensorRef

_TRIALS = 400  # runs of OTHER
_AHEAD = 48  # how many tensors on each side may be other


@dataclass(frozen=True)
class Meeting:
    """left, right: the tensors that should be the same. value: FILE's numbers as OTHER has them
    arranged."""

    left: TensorRef
    right: TensorRef
    value: np.ndarray


def find_meeting(
    runs: tuple[NetworkRun, NetworkRun],
    values: tuple[Values, Values],
    lost: tuple[Sequence[TensorRef], Sequence[TensorRef]],
    matching: Matching,
    forced: Values,
    tolerance: float,
) -> Meeting | None:
    """The first pair of tensors, in the order of both runs, behind which they agree. None where
    there is none in so many trials."""
    right = runs[1]
    left_first, right_first = _with_shuffled(runs, values, lost, matching, tolerance)
    for a, b in islice(_pairs(left_first, right_first, values), _TRIALS):
        value = as_arranged(values[0][a], values[1][b])
        if value is None:
            continue
        value = value.copy(order="C")
        after = right.values_with({**forced, b: value.astype(values[1][b].dtype)})
        if _agree_behind((a, b), runs, values, lost, after, tolerance):
            return Meeting(a, b, value)
    return None


def shuffled(
    values: tuple[Values, Values], side: int, ref: TensorRef, partners: Pairs, tolerance: float
) -> bool:
    """Whether a tensor of one side has its counterparts' numbers in an order that no order of axes
    makes, though their sizes are the same."""
    mine = values[side][ref]
    fit = [values[1 - side][one] for one in partners.get(ref, ())]
    fit = [one for one in fit if sorted(one.shape) == sorted(mine.shape)]
    return bool(fit) and not any(are_arranged(one, mine, tolerance) for one in fit)


def _with_shuffled(
    runs: tuple[NetworkRun, NetworkRun],
    values: tuple[Values, Values],
    lost: tuple[Sequence[TensorRef], Sequence[TensorRef]],
    matching: Matching,
    tolerance: float,
) -> tuple[list[TensorRef], list[TensorRef]]:
    """What is lost, and before it what it reads that is met in another order."""
    before = set[TensorRef](), set[TensorRef]()
    for side, partners in enumerate((matching.right, matching.left)):
        graph = runs[side].graph
        read = (one for ref in lost[side] for one in graph[ref.op].inputs if one is not None)
        for ref in dict.fromkeys(one for one in read if one in partners):
            if shuffled(values, side, ref, partners, tolerance):
                before[side].add(ref)
                before[1 - side].update(partners[ref])
    left, right = (
        [*(ref for ref in values[side] if ref in before[side]), *lost[side]] for side in (0, 1)
    )
    return left[:_AHEAD], right[:_AHEAD]


def _pairs(
    left: Sequence[TensorRef], right: Sequence[TensorRef], values: tuple[Values, Values]
) -> Iterator[tuple[TensorRef, TensorRef]]:
    """Those of one size, the first on both sides first."""
    places = ((i + j, i, j) for i in range(len(left)) for j in range(len(right)))
    for _, i, j in sorted(places):
        if values[0][left[i]].size == values[1][right[j]].size:
            yield left[i], right[j]


def _agree_behind(
    pair: tuple[TensorRef, TensorRef],
    runs: tuple[NetworkRun, NetworkRun],
    values: tuple[Values, Values],
    lost: tuple[Sequence[TensorRef], Sequence[TensorRef]],
    after: Values,
    tolerance: float,
) -> bool:
    """Whether something that OTHER computes of the tensor is among what FILE computes of its own,
    and is other numbers than the tensor itself."""
    a, b = pair
    behind_a = runs[0].graph.descendants(a.op) - {a.op}
    behind_b = runs[1].graph.descendants(b.op) - {b.op}
    own = NumberIndex({a: values[0][a]}, tolerance)
    mine = {ref: values[0][ref] for ref in lost[0] if ref.op in behind_a}
    index = NumberIndex({r: v for r, v in mine.items() if not any(own.like(v))}, tolerance)
    theirs = (after[ref] for ref in lost[1] if ref.op in behind_b and ref in after)
    if a in runs[0].ends and b in runs[1].ends:
        return True  # nothing is behind them
    return any(any(index.like(value)) for value in theirs)
