"""What lowerings of PyTorch's operations are made of: axes, sizes, casts, PyTorch's promotion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.foreign_graph import ElementType
from gradstep.core.lowering.lowering_table import Site, UnloweredError, element_type, fixed
from gradstep.core.lowering.plain_operands import add_axis as add_axis
from gradstep.core.lowering.plain_operands import cast as cast
from gradstep.core.lowering.plain_operands import ints as ints
from gradstep.core.lowering.plain_operands import scalar as scalar
from gradstep.core.lowering.plain_operands import transpose as transpose
from gradstep.core.ops.build.builder import Tensor, call

Number = bool | int | float
_SCALARS = {bool: DType.BOOL, int: DType.INT64, float: DType.FLOAT32}


def rank(x: Tensor) -> int:
    found = x.shape.rank
    if found is None:
        raise UnloweredError(f"{x.name} of unknown rank")
    return found


def dims(x: Tensor) -> tuple[int, ...]:
    """All sizes. Raises UnloweredError where one may be any."""
    return fixed(tuple(x.shape))


def size_at(x: Tensor, axis: int) -> int:
    return fixed([tuple(x.shape)[axis]])[0]


def axes_of(x: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    """Counted from the front; all of them for None and for []."""
    count = rank(x)
    chosen = [dim] if isinstance(dim, int) else dim
    return [d % max(count, 1) for d in chosen] if chosen else list(range(count))


def reshape(x: Tensor, shape: Sequence[int | None]) -> Tensor:
    """One size may be any (None). Raises UnloweredError for more."""
    if sum(size is None for size in shape) > 1:
        raise UnloweredError("two sizes that may be any")
    return call("Reshape", x, ints([-1 if size is None else size for size in shape]))


def number(value: Any) -> Number:
    """Of what a trace holds for a number."""
    if isinstance(value, Tensor):
        raise UnloweredError("a number that is computed")
    return value  # type: ignore[no-any-return]


def product(sizes: Sequence[int]) -> int:
    return math.prod(sizes)


def wanted(site: Site, dtype: ElementType | None, x: Tensor) -> Tensor:
    """`x` in the element type that is asked for, if one is."""
    return x if dtype is None else cast(x, element_type(dtype.name))


def to_result(site: Site, x: Tensor) -> Tensor:
    """`x` in the element type of what the node gives: integers become floats in most functions."""
    return cast(x, site.dtype())


def along_axis(x: Tensor, axis: int, ndim: int) -> Tensor:
    """A vector such that it broadcasts along one axis of so many."""
    return reshape(x, [-1 if i == axis else 1 for i in range(ndim)])


# -- promotion -------------------------------------------------------------------------------------


def promoted(*operands: Any) -> DType:
    """The element type that PyTorch computes in: tensors with axes come before those without, and
    these before Python's numbers, unless the later is of a higher kind (bool, int, float)."""
    groups: list[DType | None] = [None, None, None]
    for one in operands:
        place = 2 if not isinstance(one, Tensor) else 1 if rank(one) == 0 else 0
        kind = one.dtype if isinstance(one, Tensor) else _SCALARS[type(one)]
        known = groups[place]
        groups[place] = kind if known is None else _common(known, kind)
    found = groups[0]
    for later in groups[1:]:
        if found is None or (later is not None and _kind(later) > _kind(found)):
            found = later
    if found is None:
        raise UnloweredError("no operand")
    return found


def _kind(dtype: DType) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating else 1 if dtype.is_integer else 0


def _common(a: DType, b: DType) -> DType:
    if _kind(a) != _kind(b):
        return a if _kind(a) > _kind(b) else b
    if {a, b} == {DType.FLOAT16, DType.BFLOAT16}:
        return DType.FLOAT32  # the first that holds both, which NumPy does not say
    return DType.of(np.promote_types(a.numpy, b.numpy))


def as_operands(dtype: DType, *operands: Any) -> list[Any]:
    """Tensors cast to `dtype`, numbers made arrays of it."""
    return [cast(x, dtype) if isinstance(x, Tensor) else np.array(x, dtype.numpy) for x in operands]
