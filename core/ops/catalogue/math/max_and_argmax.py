"""The largest and the smallest over axes, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.math.sum_and_mean import axes_of, samples
from gradstep.core.ops.declare.axes import kept_shape, positive, reduced_shape, reduction
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real, wrong_type


def _lowest(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype: Any) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _extreme(name: str, of_nothing: Any) -> Any:
    def kernel(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
        over = axes_of(x, axes)
        if x.size == 0:
            shape = _shape_left(x.shape, over, keep_dims)
            return xp.full(shape, of_nothing(x.dtype), dtype=x.dtype)
        return getattr(xp, name)(x, axis=over, keepdims=keep_dims)

    return kernel


def _shape_left(shape: tuple[int, ...], over: tuple[int, ...], keep_dims: bool) -> tuple[int, ...]:
    if keep_dims:
        return tuple(1 if i in over else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in over)


def _extreme_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """To every element that reaches the extreme an equal share."""
    x, axes = op.inputs
    kept = kept_shape(x, axes)
    y, g = call("Reshape", op.outputs[0], kept), call("Reshape", g, kept)
    reached = call("Cast", call("Equal", y, x), DstT=g.dtype)
    shares = call("Reshape", call("Sum", reached, axes), kept)
    return reached / shares * g, None


for _type, _function, _empty in (("Max", "max", _lowest), ("Min", "min", _highest)):
    op(
        _type,
        inputs="input #reduction_indices:int32,int64",
        attrs={"keep_dims": False},
        type_attrs={"T": "input", "Tidx": "reduction_indices"},
        formula=f"{_function}(input, axes(reduction_indices), keepdims=keep_dims)",
        infer=real(reduction),
        kernel=_extreme(_function, _empty),
        gradient=_extreme_gradient,
        samples=samples,
        arithmetic="exact",
        causes=Causes(breaks={"empty": lambda x, axes: x.size == 0}, flat="not_extreme"),
        doc=f"The {'largest' if _type == 'Max' else 'smallest'} value over some axes.",
        kinks="equal extremes share the gradient equally",
    )

_AXES = {"ArgMax": "int16,int32,int64", "ArgMin": "int32,int64"}
_PLACES = {
    "ArgMax": (DType.INT16, DType.UINT16, DType.INT32, DType.INT64),
    "ArgMin": (DType.INT32, DType.INT64),
}


def _place_type(ctx: InferContext) -> TensorType:
    if ctx.types[0].dtype.is_complex or ctx.types[0].dtype in (DType.STRING, DType.RESOURCE):
        raise wrong_type(ctx, ctx.types[0].dtype, "real numbers or bool")
    rank = ctx.types[1].shape.rank
    if rank:
        raise ctx.fail(
            f"Shape must be rank 0 but is rank {rank} for {ctx.op.type} with input shapes: "
            f"{brackets(ctx.types[0].shape.dims)}, {brackets(ctx.types[1].shape.dims)}",
            hint="dimension is one axis",
        )
    axis, shape = ctx.constant(1), ctx.types[0].shape
    if axis is not None and shape.rank is not None:
        axis = np.array(positive(integer(axis), shape.rank))
    return TensorType(DType(ctx.attr("output_type")), reduced_shape(shape, axis, False))


def _place(name: str, passed_over: float) -> Any:
    def kernel(xp: Any, x: Any, axis: Any, *, output_type: DType) -> Any:
        if axis.ndim:
            shape = brackets(axis.shape)
            raise GradstepError(f"dim must be a scalar, but received tensor of shape: {shape}")
        over, dtype = positive(integer(axis), x.ndim), DType(output_type).numpy
        if x.size == 0:
            return xp.zeros(_of_nothing(x, over), dtype=dtype)
        if x.dtype.kind == "f":  # TensorFlow looks past NaN
            x = xp.where(xp.isnan(x), xp.full_like(x, passed_over), x)
        return getattr(xp, name)(x, axis=over).astype(dtype)

    return kernel


def _of_nothing(x: Any, axis: int) -> tuple[int, ...]:
    if x.shape[axis] == 0:
        raise GradstepError(
            f"Reduction axis {axis} is empty in shape {brackets(x.shape)}",
            hint="of nothing, nothing is the largest or smallest",
        )
    return _shape_left(x.shape, (axis,), False)


def _place_samples(rng: np.random.Generator) -> list[Sample]:
    x, ties = rng.normal(size=(2, 3)), np.array([[2, 1, 2], [0, 1, 0]], np.int32)
    pairs = [(x, DType.INT64), (x, DType.INT32), (ties, DType.INT32), (ties > 1, DType.INT64)]
    return [
        Sample((values, np.int32(axis)), {"output_type": kind})
        for axis in (0, -1)
        for values, kind in pairs
    ]


for _type, _lost in (("ArgMax", -np.inf), ("ArgMin", np.inf)):
    _words = "largest" if _type == "ArgMax" else "smallest"
    op(
        _type,
        inputs=f"input #dimension:{_AXES[_type]}",
        attrs={"output_type": DType.INT64},
        type_attrs={"T": "input", "Tidx": "dimension"},
        choices={"output_type": _PLACES[_type]},
        formula=f"{_type.lower()}(input, dimension)",
        infer=_place_type,
        kernel=_place(_type.lower(), _lost),
        gradient=NOT_DIFFERENTIABLE,
        samples=_place_samples,
        arithmetic="exact",
        doc=f"The position of the {_words} value along an axis, the first of equals; NaN is "
        "passed over.",
    )
