"""Reads of parts of a resource variable, and of its shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.catalogue.state.resource_variables import element_type
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.op_state import Stateful
from gradstep.core.ops.declare.samples import ints, unary
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, lookup, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.typing.static_values import shape_of

_FLAT = np.array([-1], np.int32)


def _want_indices(ctx: InferContext) -> None:
    if ctx.types[1].dtype not in (DType.INT32, DType.INT64):
        raise wrong_type(ctx, ctx.types[1].dtype, "indices of int32 or int64")


def _rows(ctx: InferContext) -> TensorType:
    _want_indices(ctx)
    params, indices, batch = ctx.types[0].shape, ctx.types[1].shape, ctx.attr("batch_dims")
    if params.rank == 0:
        raise ctx.fail("Shape must be at least rank 1 but is rank 0")
    if params.dims is None or indices.dims is None:
        return TensorType(element_type(ctx))
    dims = (*params.dims[:batch], *indices.dims[batch:], *params.dims[batch + 1 :])
    return TensorType(element_type(ctx), Shape(dims))


def _gather(xp: Any, resource: Any, indices: Any, *, batch_dims: int, rules: Rules = TF_CPU) -> Any:
    kernel = lookup("GatherV2").kernel.plain
    assert kernel is not None
    axis = np.array(batch_dims, np.int32)
    return kernel(xp, resource, indices, axis, batch_dims=batch_dims, rules=rules)


def _rows_gradient(op: OpView, g: Tensor) -> tuple[IndexedSlices, None]:
    """TensorFlow's, which knows nothing of batch_dims."""
    if op.get_attr("batch_dims"):
        raise GradstepError(
            "the gradient of ResourceGather with batch_dims is not defined",
            kind="LookupError",
            node=op.name,
            hint="read the variable, and gather from its value",
        )
    handle, indices = op.inputs
    shape = _shape(handle, DType.INT32)
    if indices.shape.rank == 1:
        return IndexedSlices(g, indices, shape), None
    flat = call("Reshape", indices, _FLAT)
    row = shape[1:] if isinstance(shape, np.ndarray) else _after_first(shape)
    values = call("Reshape", g, _joined(shape_of(flat), row))
    return IndexedSlices(values, flat, shape), None


def _shape(handle: Tensor, kind: DType) -> Tensor | np.ndarray:
    """The sizes of a resource variable."""
    if handle.shape.is_static:
        return np.array(handle.shape.static(), kind.numpy)
    return call("VariableShape", handle, out_type=kind)


def _after_first(shape: Tensor) -> Tensor:
    one, zero = np.array([1], np.int32), np.array([0], np.int32)
    return call("StridedSlice", shape, one, zero, one, end_mask=1)


def _joined(first: Tensor | np.ndarray, rest: Tensor | np.ndarray) -> Tensor | np.ndarray:
    if isinstance(first, np.ndarray) and isinstance(rest, np.ndarray):
        return np.concatenate([first, rest]).astype(np.int32)
    return call("ConcatV2", first, rest, np.array(0, np.int32))


def _gather_samples(rng: np.random.Generator) -> list[Sample]:
    params = rng.normal(size=(4, 3))
    return [
        Sample((params, ints(2, 0, 2))),
        Sample((params, np.array([[1, 3], [0, 1]], np.int64))),
        Sample((params, np.array(1, np.int32))),
        Sample((params, ints([0], [2], [1], [1])), {"batch_dims": 1}, differentiable=False),
    ]


op(
    "ResourceGather",
    inputs="resource:variable indices",
    attrs={"dtype": DType, "batch_dims": 0, "validate_indices": True},
    type_attrs={"Tindices": "indices"},
    formula="gather(resource, indices, batch_dims, batch_dims)",
    infer=_rows,
    kernel=_gather,
    gradient=_rows_gradient,
    state=Stateful(),
    samples=_gather_samples,
    arithmetic="exact",
    doc="The rows of a resource variable that the indices name.",
    kinks="a row named twice receives both gradients",
    differs="the gradient with batch_dims is refused; TensorFlow's fails when it runs",
)


def _points(ctx: InferContext) -> TensorType:
    _want_indices(ctx)
    params, indices = ctx.types[0].shape, ctx.types[1].shape
    if indices.rank == 0:
        raise ctx.fail("ResourceGatherNd needs indices of rank 1 or more")
    depth = None if indices.dims is None else indices.dims[-1]
    if params.dims is None or indices.dims is None or depth is None:
        return TensorType(element_type(ctx))
    if depth > len(params.dims):
        raise ctx.fail(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. "
            f"{len(params.dims)}"
        )
    return TensorType(element_type(ctx), Shape((*indices.dims[:-1], *params.dims[depth:])))


def _gather_nd(
    xp: Any, resource: Any, indices: Any, *, op: Any = None, rules: Rules = TF_CPU
) -> Any:
    kernel = lookup("GatherNd").kernel.plain
    assert kernel is not None
    return kernel(xp, resource, indices, bad_indices_policy="", op=op, rules=rules)


def _points_gradient(op: OpView, g: Tensor) -> tuple[Tensor | IndexedSlices, None]:
    handle, indices = op.inputs
    shape = _shape(handle, indices.dtype)
    if indices.shape.rank == 2 and indices.shape.dims is not None and indices.shape.dims[1] == 1:
        rows = call("Squeeze", indices, squeeze_dims=(-1,))
        return IndexedSlices(g, rows, shape), None
    return call("ScatterNd", indices, g, shape), None


op(
    "ResourceGatherNd",
    inputs="resource:variable indices",
    attrs={"dtype": DType},
    type_attrs={"Tindices": "indices"},
    formula="resource[rows_of(indices)]",
    infer=_points,
    kernel=_gather_nd,
    gradient=_points_gradient,
    state=Stateful(),
    samples=lambda rng: [
        Sample((rng.normal(size=(3, 4)), ints([2, 1], [0, 0], [2, 1]))),
        Sample((rng.normal(size=(3, 4)), ints([1], [0], [1]))),
        Sample((rng.normal(size=(3, 4)), ints(0, 3))),
    ],
    arithmetic="exact",
    doc="The elements or slices of a resource variable that the vectors of indices name.",
    kinks="an element named twice receives both gradients",
)


def _sizes(ctx: InferContext) -> TensorType:
    return TensorType(ctx.attr("out_type"), Shape.of(ctx.types[0].shape.rank))


op(
    "VariableShape",
    inputs="input:variable",
    attrs={"out_type": DType.INT32},
    choices={"out_type": INDEX},
    formula="array(input.shape)",
    infer=_sizes,
    kernel=lambda xp, x, *, out_type: xp.asarray(np.array(x.shape, DType(out_type).numpy)),
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    arithmetic="exact",
    doc="The sizes of a resource variable.",
)
