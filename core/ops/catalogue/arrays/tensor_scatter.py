"""A tensor with some of its rows or elements updated: replaced, added to, the larger kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import numeric, real, wrong_type
from gradstep.core.ops.numerics.extreme_rows import extreme_rows
from gradstep.core.ops.numerics.index_bounds import BAD_INDICES, check, no_such_row, want_indices
from gradstep.core.ops.numerics.row_updates import add_rows, flat_rows, write_rows
from gradstep.core.ops.typing.static_values import shape_of, zeros_like

_Update = Callable[[Any, Any, Any, Any], Any]  # (xp, rows as they are, updates, where) -> rows


def _updated(ctx: InferContext) -> TensorType:
    want_indices(ctx, 1)
    dtype = one_dtype(ctx, (ctx.types[0], ctx.types[2]))
    if dtype in (DType.STRING, DType.RESOURCE):
        raise wrong_type(ctx, dtype, "numbers or bool")
    _check_shapes(*(kind.shape for kind in ctx.types))
    return TensorType(dtype, ctx.types[0].shape)


def _check_shapes(tensor: Shape, indices: Shape, updates: Shape) -> None:
    """Updates are [*indices.shape[:-1], *tensor.shape[depth:]]. Raises GradstepError."""
    for name, shape in (("Output", tensor), ("Indices", indices), ("Updates", updates)):
        if shape.rank == 0:
            raise GradstepError(f"{name} shape must have rank at least one. Found:[]")
    if indices.dims is None or updates.dims is None:
        return
    outer, depth = len(indices.dims) - 1, indices.dims[-1]
    if not _fits(indices.dims[:-1], updates.dims[:outer]):
        raise GradstepError(
            "Outer dimensions of indices and update must match. Indices shape: "
            f"{brackets(indices)}, updates shape:{brackets(updates)}"
        )
    if tensor.dims is None or depth is None:
        return
    if depth > len(tensor.dims) or not _fits(tensor.dims[depth:], updates.dims[outer:]):
        raise GradstepError(
            "Inner dimensions of output shape must match inner dimensions of updates shape. "
            f"Output: {brackets(tensor)} updates: {brackets(updates)}",
            hint="indices of depth n name slices of the tensor's axes from n on",
        )
    if (depth == 0 or 0 in tensor.dims) and not {0, None} & {*indices.dims[:-1]}:
        raise GradstepError(
            "Indices and updates specified for empty output shape",
            hint="give it a place to write to, or no indices",
        )


def _fits(a: tuple[int | None, ...], b: tuple[int | None, ...]) -> bool:
    return len(a) == len(b) and all(x is None or y in (None, x) for x, y in zip(a, b, strict=True))


def _kernel(update: _Update) -> Callable[..., Any]:
    def kernel(
        xp: Any,
        tensor: Any,
        indices: Any,
        updates: Any,
        *,
        bad_indices_policy: str,
        rules: Rules = TF_CPU,
    ) -> Any:
        _check_shapes(Shape(tensor.shape), Shape(indices.shape), Shape(updates.shape))
        policy = "zero" if bad_indices_policy == "IGNORE" else rules.scatter
        depth = indices.shape[-1]
        rows, outside = flat_rows(xp, indices, tensor.shape[:depth], policy, rules.negative_ok)
        if policy == "raise":
            check(xp, outside, lambda place: no_such_row(indices, place, tensor.shape))
        count = int(np.prod(tensor.shape[:depth], dtype=np.int64))
        inner = tensor.shape[depth:]
        # One row more than there is takes the updates that are dropped.
        spare = xp.zeros((1, *inner), dtype=tensor.dtype)
        full = xp.concatenate([tensor.reshape((count, *inner)), spare])
        rows = xp.where(outside, count, rows).reshape(-1)
        full = update(xp, full, updates.reshape((rows.size, *inner)), rows)
        return full[:count].reshape(tensor.shape)

    return kernel


def _larger(xp: Any, full: Any, updates: Any, rows: Any) -> Any:
    """NaN where there is one; a NaN that comes changes nothing."""
    return _unless_nan(xp, full, extreme_rows(xp, True, False, xp.array(full), updates, rows))


def _smaller(xp: Any, full: Any, updates: Any, rows: Any) -> Any:
    return _unless_nan(xp, full, extreme_rows(xp, False, False, xp.array(full), updates, rows))


def _unless_nan(xp: Any, old: Any, new: Any) -> Any:
    return xp.where(old != old, old, new)


def _picked(op: OpView, g: Tensor) -> Tensor:
    return call("GatherNd", g, op.inputs[1], **_policy(op))


def _policy(op: OpView) -> dict[str, str]:
    policy = op.get_attr("bad_indices_policy")
    return {"bad_indices_policy": policy} if policy else {}


def _replaced(op: OpView, g: Tensor) -> tuple[Tensor, None, Tensor]:
    """What was overwritten has no part in the result."""
    _, indices, updates = op.inputs
    rest = call("TensorScatterUpdate", g, indices, zeros_like(updates), **_policy(op))
    return rest, None, _picked(op, g)


def _shared(op: OpView, g: Tensor) -> tuple[Tensor, None, Tensor]:
    """All that are equal to the result get equal shares of its gradient."""
    x, indices, y = op.inputs
    result = op.outputs[0]
    chosen = call("Cast", call("Equal", x, result), DstT=g.dtype)
    there = call("GatherNd", result, indices, **_policy(op))
    winners = call("Cast", call("Equal", y, there), DstT=g.dtype)
    sizes = shape_of(x, indices.dtype)
    many = chosen + call("ScatterNd", indices, winners, sizes, **_policy(op))
    share = call("GatherNd", g / many, indices, **_policy(op))
    return g * chosen / many, None, share * winners


def _samples(distinct: bool) -> Callable[[np.random.Generator], list[Sample]]:
    """`distinct`: no row twice, where the derivative would not be TensorFlow's."""

    def make(rng: np.random.Generator) -> list[Sample]:
        rows: list[Any] = [[[1], [3], [0]], [[1], [0]], [[0, 1], [1, 2]]]
        if not distinct:
            rows[0][2] = [1]
        shapes = ((4,), (3,)), ((2, 3), (2, 3)), ((2, 3), (2,))
        return [
            Sample((rng.normal(size=x), np.array(at, np.int32), rng.normal(size=y)))
            for at, (x, y) in zip(rows, shapes, strict=True)
        ]

    return make


def _declare(
    name: str,
    *,
    update: _Update,
    gradient: Callable[..., Any],
    combine: str,
    doc: str,
    numbers: Any = lambda rule: rule,
    distinct: bool = False,
    exact: bool = True,
    python: str = "",
    kinks: str = "",
    differs: str = "",
) -> None:
    op(
        f"TensorScatter{name}",
        inputs="tensor indices updates",
        attrs={"bad_indices_policy": ""},
        choices=BAD_INDICES,
        type_attrs={"T": "tensor", "Tindices": "indices"},
        formula=f"combined(tensor, indices, updates, {combine})",
        infer=numbers(_updated),
        kernel=_kernel(update),
        gradient=gradient,
        samples=_samples(distinct),
        arithmetic="exact" if exact else "reducing",
        python=python,
        doc=doc,
        kinks=kinks,
        differs=differs,
    )


_ORDER = "on a GPU, duplicates are added in any order, so the last bits may vary"

_declare(
    "Update",
    update=write_rows,
    gradient=_replaced,
    combine="None",
    distinct=True,
    python="tensor_scatter_nd_update tensor_scatter_update",
    doc="The tensor with the updates written where the indices point.",
    kinks="of several updates of one place the last is kept, and all get its gradient",
)
_declare(
    "Add",
    update=add_rows,
    gradient=lambda op, g: (g, None, _picked(op, g)),
    combine="add",
    numbers=numeric,
    exact=False,
    python="tensor_scatter_nd_add tensor_scatter_add",
    doc="The tensor with the updates added where the indices point.",
    differs=_ORDER,
)
_declare(
    "Sub",
    update=lambda xp, full, updates, rows: add_rows(xp, full, -updates, rows),
    gradient=lambda op, g: (g, None, -_picked(op, g)),
    combine="subtract",
    numbers=numeric,
    exact=False,
    python="tensor_scatter_nd_sub tensor_scatter_sub",
    doc="The tensor with the updates subtracted where the indices point.",
    differs=_ORDER,
)
_declare(
    "Max",
    update=_larger,
    gradient=_shared,
    combine="maximum",
    numbers=real,
    python="tensor_scatter_nd_max tensor_scatter_max",
    doc="The larger of the tensor and the updates where the indices point.",
    kinks="what is equal to the result shares the gradient equally",
)
_declare(
    "Min",
    update=_smaller,
    gradient=_shared,
    combine="minimum",
    numbers=real,
    python="tensor_scatter_nd_min tensor_scatter_min",
    doc="The smaller of the tensor and the updates where the indices point.",
    kinks="what is equal to the result shares the gradient equally",
)
