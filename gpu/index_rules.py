"""Indices that number classes, where they are outside: of OneHot, and labels of cross entropy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.system_rules import OutOfRange, Rules
from gradstep.core.ops.numerics.index_bounds import bounds_hint, check, resolve

Kernel = Callable[..., Any]
LABELLED = "SparseSoftmaxCrossEntropyWithLogits"


def adapted(rules: Rules, type_: str, kernel: Kernel) -> Kernel:
    """`kernel` of an operation of this type under the rules for classes."""
    if type_ == "OneHot" and rules.one_hot_from_end:
        return _from_end(kernel)
    if type_ == "OneHot" and rules.one_hot is not OutOfRange.ZERO:
        return _one_hot(kernel, rules.one_hot)
    if type_ == LABELLED and rules.labels in (OutOfRange.CLAMP, OutOfRange.RAISE):
        return _labelled(kernel, rules.labels, rules.negative_ok)
    return kernel


def _from_end(kernel: Kernel) -> Kernel:
    def one_hot(indices: Any, depth: Any, *values: Any) -> Any:
        return kernel(_counted(indices, int(depth)), depth, *values)

    return one_hot


def _counted(indices: Any, size: int) -> Any:
    """-1 is the last one; what is outside then stays so."""
    return np.where(indices < 0, indices + size, indices).astype(indices.dtype)


def _one_hot(kernel: Kernel, rule: OutOfRange) -> Kernel:
    def one_hot(indices: Any, depth: Any, *values: Any) -> Any:
        if rule is OutOfRange.RAISE:
            outside = (indices < 0) | (indices >= depth)
            check(np, outside, lambda place: _no_such_class(indices, place, int(depth)))
            return kernel(indices, depth, *values)
        return kernel(resolve(np, indices, int(depth), rule)[0], depth, *values)

    return one_hot


def _labelled(kernel: Kernel, rule: OutOfRange, negative_ok: bool) -> Kernel:
    """RAISE is the kernel's own, of what is outside still."""

    def loss(scores: Any, labels: Any) -> Any:
        classes = scores.shape[-1]
        if rule is OutOfRange.RAISE:
            return kernel(scores, _counted(labels, classes) if negative_ok else labels)
        inside, _ = resolve(np, labels, classes, rule, negative_ok)
        return kernel(scores, inside.astype(labels.dtype))

    return loss


def _no_such_class(indices: Any, place: tuple[int, ...], depth: int) -> GradstepError:
    return GradstepError(
        f"indices{list(place)} = {indices[place].item()} is not in [0, {depth})",
        index=place,
        hint=bounds_hint(depth),
    )
