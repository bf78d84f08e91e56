"""What lowerings of JAX's primitives are made of: operands that may be numbers, sizes, axes.

In a jaxpr operands are of one element type and one shape, but that numbers stand for scalars; all
sizes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError, fixed
from gradstep.core.lowering.plain_operands import add_axis as add_axis
from gradstep.core.lowering.plain_operands import cast as cast
from gradstep.core.lowering.plain_operands import ints as ints
from gradstep.core.lowering.plain_operands import scalar as scalar
from gradstep.core.lowering.plain_operands import transpose as transpose
from gradstep.core.ops.build.builder import Tensor, call


def dims(x: Tensor) -> tuple[int, ...]:
    return fixed(tuple(x.shape))


def rank(x: Tensor) -> int:
    return len(dims(x))


def tensor(site: Site, x: Any, dtype: DType | None = None) -> Tensor:
    """An operand; a number as a constant, of the type of what the node gives if none is told."""
    if isinstance(x, Tensor):
        return x
    return site.constant(np.array(x, (dtype or site.dtype()).numpy))


def operands(site: Site, *xs: Any) -> list[Any]:
    """The first as a tensor; numbers behind it as arrays of the element type that all are of."""
    known = next((x.dtype for x in xs if isinstance(x, Tensor)), site.dtype())
    rest = [x if isinstance(x, Tensor) else np.array(x, known.numpy) for x in xs[1:]]
    return [tensor(site, xs[0], known), *rest]


def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    return x if dims(x) == tuple(shape) else call("Reshape", x, ints(shape))


def broadcast(x: Tensor, shape: Sequence[int]) -> Tensor:
    return x if dims(x) == tuple(shape) else call("BroadcastTo", x, ints(shape))


def part(x: Tensor, axis: int, first: int, end: int) -> Tensor:
    """Of an axis, what is from `first` on and before `end`."""
    if (first, end) == (0, dims(x)[axis]):
        return x
    begin, size = [0] * rank(x), list(dims(x))
    begin[axis], size[axis] = first, end - first
    return call("Slice", x, ints(begin), ints(size))


def moved(x: Tensor, axis: int, to: int) -> Tensor:
    """An axis in another place, the others in the order that they have."""
    order = [i for i in range(rank(x)) if i != axis]
    order.insert(to, axis)
    return transpose(x, order)


def inverse(order: Sequence[int]) -> list[int]:
    """The order of axes that undoes one."""
    return [int(i) for i in np.argsort(order)]


def one_axis(axes: Sequence[int], what: str) -> int:
    """Raises UnloweredError for more than one."""
    if len(axes) != 1:
        raise UnloweredError(f"{what} over {len(axes)} axes")
    return axes[0]
