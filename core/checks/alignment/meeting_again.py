"""Where two networks that have parted would meet again: the end of what is other in each.

A tensor of OTHER is given FILE's numbers in place of its own; where what is computed of it then is
FILE's again, all that is other lies before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gradstep.core.checks.alignment.compared_networks import ComparedNetworks
from gradstep.core.checks.alignment.equal_numbers import are_arranged, as_arranged
from gradstep.core.checks.alignment.network_run import Values
from gradstep.core.checks.alignment.value_matching import NumberIndex
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


def find_meeting(networks: ComparedNetworks) -> Meeting | None:
    """The first pair of tensors, in the order of both runs, behind which they agree. None where
    there is none in so many trials."""
    mine, theirs = networks.values
    left_first, right_first = _with_shuffled(networks)
    for a, b in islice(_pairs(left_first, right_first, networks.values), _TRIALS):
        value = as_arranged(mine[a], theirs[b])
        if value is None:
            continue
        value = value.copy(order="C")
        if _agree_behind((a, b), networks, networks.values_with(b, value)):
            return Meeting(a, b, value)
    return None


def shuffled(networks: ComparedNetworks, side: int, ref: TensorRef) -> bool:
    """Whether a tensor of one side has its counterparts' numbers in an order that no order of axes
    makes, though their sizes are the same."""
    mine, theirs = networks.values[side][ref], networks.values[1 - side]
    fit = [theirs[one] for one in networks.partners[side].get(ref, ())]
    fit = [one for one in fit if sorted(one.shape) == sorted(mine.shape)]
    return bool(fit) and not any(are_arranged(one, mine, networks.tolerance) for one in fit)


def _with_shuffled(networks: ComparedNetworks) -> tuple[list[TensorRef], list[TensorRef]]:
    """What is lost, and before it what it reads that is met in another order."""
    before = set[TensorRef](), set[TensorRef]()
    for side, partners in enumerate(networks.partners):
        graph, lost = networks.runs[side].graph, networks.lost[side]
        read = (one for ref in lost for one in graph[ref.op].inputs if one is not None)
        for ref in dict.fromkeys(one for one in read if one in partners):
            if shuffled(networks, side, ref):
                before[side].add(ref)
                before[1 - side].update(partners[ref])
    left, right = (
        [*(ref for ref in values if ref in early), *lost]
        for values, early, lost in zip(networks.values, before, networks.lost, strict=True)
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
    pair: tuple[TensorRef, TensorRef], networks: ComparedNetworks, after: Values
) -> bool:
    """Whether something that OTHER computes of the tensor is among what FILE computes of its own,
    and is other numbers than the tensor itself."""
    (a, b), (left, right), values = pair, networks.runs, networks.values[0]
    behind_a = left.graph.descendants(a.op) - {a.op}
    behind_b = right.graph.descendants(b.op) - {b.op}
    own = NumberIndex({a: values[a]}, networks.tolerance)
    mine = {ref: values[ref] for ref in networks.lost[0] if ref.op in behind_a}
    index = NumberIndex({r: v for r, v in mine.items() if not any(own.like(v))}, networks.tolerance)
    theirs = (after[ref] for ref in networks.lost[1] if ref.op in behind_b and ref in after)
    if a in left.ends and b in right.ends:
        return True  # nothing is behind them
    return any(any(index.like(value)) for value in theirs)
