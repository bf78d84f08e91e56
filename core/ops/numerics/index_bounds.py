"""Indices outside their dimension: one mechanism for every system's rule.

Mark what is outside, put a safe index in its place, take, and choose: the same few array
operations, whatever the rule. Only the rule `raise` needs one look from the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.declare.table import InferContext
from gradstep.core.ops.declare.type_rules import wrong_type

BAD_INDICES = {"bad_indices_policy": ("", "DEFAULT", "ERROR", "IGNORE")}  # "": ERROR


def want_indices(ctx: InferContext, index: int) -> None:
    """Fail unless input `index` is of a type that indices may have."""
    kind = ctx.types[index].dtype
    if kind not in (DType.INT32, DType.INT64):
        raise wrong_type(ctx, kind, "indices of element type int32 or int64")


def resolve(
    xp: Any, indices: Any, size: int, policy: str, negative_ok: bool = False
) -> tuple[Any, Any]:
    """Safe indices into [0, size), and a mask of those that were outside and stay so (None when
    the policy leaves none)."""
    if negative_ok:
        indices = xp.where(indices < 0, indices + size, indices)
    if policy == "wrap":
        return indices % max(size, 1), None
    if policy == "clamp":
        return xp.clip(indices, 0, max(size - 1, 0)), None
    outside = (indices < 0) | (indices >= size)
    return xp.where(outside, xp.zeros_like(indices), indices), outside


def check(xp: Any, outside: Any, error: Callable[[tuple[int, ...]], GradstepError]) -> None:
    """Raise `error(position)` for the first index that is outside; reads one flag on the host."""
    if outside.size == 0 or not xp.any(outside).item():
        return
    first = xp.argmax(outside.reshape(-1)).item()
    raise error(tuple(int(i) for i in np.unravel_index(first, outside.shape)))


def fill_value(dtype: Any, policy: str) -> Any:
    """What a gather gives for an index that stays outside."""
    if policy != "nan":
        return 0
    return np.nan if dtype.kind in "fc" else np.iinfo(dtype).min


def fill_outside(xp: Any, values: Any, outside: Any, fill: Any) -> Any:
    """`values` with `fill` wherever `outside`, whose axes line up with the leading ones."""
    if outside is None:
        return values
    mask = outside.reshape(outside.shape + (1,) * (values.ndim - outside.ndim))
    return xp.where(mask, xp.asarray(fill, dtype=values.dtype), values)


def subscript(position: tuple[int, ...]) -> str:
    """`[1,0]` as TensorFlow's messages write a position; nothing for a scalar."""
    return f"[{','.join(map(str, position))}]" if position else ""


def refused_whole(error: GradstepError) -> GradstepError:
    """The error of an update that is refused as a whole, where TensorFlow makes a part of it."""
    error.hint += (
        "; the variable stays as it was, while TensorFlow on the CPU keeps what was put in its "
        "rows before that index was met"
    )
    return error


def bounds_hint(size: int) -> str:
    valid = f"valid indices are 0 to {size - 1}" if size else "the dimension is empty"
    return f"{valid}; keep the indices inside, or compare with a system that lets them pass"


def no_such_row(indices: Any, place: tuple[int, ...], dims: tuple[int, ...]) -> GradstepError:
    """For a scatter: the vector at `place` of `indices` points outside `dims`."""
    return GradstepError(
        f"indices{subscript(place)} = {indices[place].tolist()} does not index into shape "
        f"[{','.join(map(str, dims))}]",
        index=place,
        hint="each index must lie inside its dimension; bad_indices_policy=IGNORE drops the row",
    )
