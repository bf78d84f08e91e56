"""`tf.linspace`, which has a gradient: the op LinSpace has none."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import Shape
from gradstep.core.ops.api.tf_matmul import pair
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.typing.static_values import constant_of


def linspace(
    start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: int = 0
) -> Tensor:
    """`num` numbers from start to stop at equal distances, along a new axis."""
    with builder_of((start, stop)).scope(name or "linspace"):
        first, last = pair(start, stop)
        count, rank = _count(num), _rank(first, last)
        if first.shape != last.shape:
            first, last = first + call("ZerosLike", last), last + call("ZerosLike", first)
        at = np.array(axis % (rank + 1), np.int32)
        ends = [call("ExpandDims", x, at) for x in (first, last)]
        if count == 1:
            return ends[0]
        if count == 2:
            return call("ConcatV2", *ends, at)
        step = (ends[1] - ends[0]) / float(count - 1)
        shape = [-1 if i == at else 1 for i in range(rank + 1)]
        numbers = np.arange(1, count - 1, dtype=first.dtype.numpy).reshape(shape)
        return call("ConcatV2", ends[0], ends[0] + step * numbers, ends[1], at)


def _count(num: TensorLike) -> int:
    value = constant_of(num) if isinstance(num, Tensor) else np.asarray(num)
    if value is None or int(value) < 1:
        raise ValueError(f"linspace needs a number of 1 or more, known before running, not {num}")
    return int(value)


def _rank(*ends: Tensor) -> int:
    ranks = [x.shape.rank for x in ends]
    if None in ranks:
        raise ValueError(f"linspace needs ends of known rank, not shape {Shape(None)}")
    return max(rank for rank in ranks if rank is not None)


FUNCTIONS = {"lin_space": linspace, "linspace": linspace}
