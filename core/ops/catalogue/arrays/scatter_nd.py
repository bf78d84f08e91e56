"""Adding rows up where their indices point."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import shape_from_sizes, want_rank, wrong_type
from gradstep.core.ops.numerics.index_bounds import BAD_INDICES, check, no_such_row, want_indices
from gradstep.core.ops.numerics.row_updates import flat_rows, sum_rows


def _scattered(ctx: InferContext) -> TensorType:
    want_indices(ctx, 0)
    want_rank(ctx, 2, 1)
    if ctx.types[1].dtype in (DType.STRING, DType.RESOURCE):
        raise wrong_type(ctx, ctx.types[1].dtype, "numbers or bool")
    dims = ctx.constant(2)
    ctx.attr("bad_indices_policy")  # fails unless it is one of the choices
    if dims is None:
        return TensorType(ctx.types[1].dtype, shape_from_sizes(ctx.types[2].shape))
    sizes = integers(dims)
    _check_scatter(ctx.types[0].shape, ctx.types[1].shape, sizes)
    return TensorType(ctx.types[1].dtype, Shape(sizes))


def _check_scatter(indices: Shape, updates: Shape, sizes: tuple[int, ...]) -> None:
    """Updates are [*indices.shape[:-1], *sizes[depth:]], depth being the last size of indices.
    Raises GradstepError when they cannot be."""
    if min(sizes, default=0) < 0:
        raise GradstepError(f"Dimension {min(sizes)} must be >= 0", hint="name every size")
    for name, shape in (("Indices", indices), ("Updates", updates)):
        if shape.rank == 0:
            raise GradstepError(
                f"{name} shape must have rank at least one. Found:[]",
                hint="indices are [..., depth], updates as many as there are indices",
            )
    if indices.dims is None or updates.dims is None:
        return
    outer = len(indices.dims) - 1
    if not _may_be_equal(indices.dims[:outer], updates.dims[:outer]):
        raise _mismatch("indices", indices.dims, (0, outer), updates.dims, (0, outer))
    depth = indices.dims[-1]
    if depth is None:
        return
    inner = sizes[depth:]
    if depth > len(sizes) or outer == 0 or not _may_be_equal(inner, updates.dims[outer:]):
        spans = (depth, len(sizes)), (outer, len(updates.dims))
        raise _mismatch("input", sizes, spans[0], updates.dims, spans[1])
    if (depth == 0 or 0 in sizes) and not {0, None} & {*indices.dims[:-1]}:
        raise GradstepError(
            "Indices and updates specified for empty output shape",
            hint="give it a place to write to, or no indices",
        )


def _may_be_equal(a: tuple[int | None, ...], b: tuple[int | None, ...]) -> bool:
    return len(a) == len(b) and all(x is None or y in (None, x) for x, y in zip(a, b, strict=True))


def _mismatch(
    name: str,
    dims: tuple[int | None, ...],
    span: tuple[int, int],
    updates: tuple[int | None, ...],
    theirs: tuple[int, int],
) -> GradstepError:
    return GradstepError(
        f"Dimensions [{span[0]},{span[1]}) of {name}[shape={brackets(dims)}] must match "
        f"dimensions [{theirs[0]},{theirs[1]}) of updates[shape={brackets(updates)}]",
        hint="indices are of rank 2 or more, and updates [*indices.shape[:-1], *shape[depth:]], "
        "depth being the last size of indices",
    )


def _scatter_nd(
    xp: Any,
    indices: Any,
    updates: Any,
    shape: Any,
    *,
    bad_indices_policy: str,
    rules: Rules = TF_CPU,
) -> Any:
    dims = integers(shape)
    _check_scatter(Shape(indices.shape), Shape(updates.shape), dims)
    policy = "zero" if bad_indices_policy == "IGNORE" else rules.scatter
    depth = indices.shape[-1]
    rows, outside = flat_rows(xp, indices, dims[:depth], policy, rules.negative_ok)
    if policy == "raise":
        check(xp, outside, lambda place: no_such_row(indices, place, dims))
    count = int(np.prod(dims[:depth], dtype=np.int64))
    return sum_rows(xp, updates, rows, outside, count).reshape(dims)


def _scatter_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((np.array([[1], [3], [1]], np.int32), rng.normal(size=3), ints(5))),
        Sample((np.array([[1], [0]], np.int32), rng.normal(size=(2, 3)), ints(2, 3))),
        Sample((np.array([[1, 2], [0, 0]], np.int32), rng.normal(size=2), ints(2, 3))),
    ]


def _gathered(op: OpView, g: Tensor) -> tuple[None, Tensor, None]:
    policy = op.get_attr("bad_indices_policy")
    attrs = {"bad_indices_policy": policy} if policy else {}
    return None, call("GatherNd", g, op.inputs[0], **attrs), None


op(
    "ScatterNd",
    inputs="indices updates #shape:indices",
    attrs={"bad_indices_policy": ""},
    choices=BAD_INDICES,
    type_attrs={"T": "updates", "Tindices": "indices"},
    formula="scatter(indices, updates, shape)",
    infer=_scattered,
    kernel=_scatter_nd,
    gradient=_gathered,
    samples=_scatter_samples,
    arithmetic="reducing",
    python="scatter_nd",
    doc="Zeros of the given shape, with the updates added where the indices point.",
    differs="on a GPU, duplicates are added in any order, so the last bits may vary; with IGNORE, "
    "TensorFlow's own gradient fails at the indices that were ignored, and here they get 0",
)
