"""Max pooling that also says where each maximum is, and its gradient."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.image_blocks import Axes
from gradstep.core.ops.catalogue.neural.pooling import mean_samples
from gradstep.core.ops.catalogue.neural.pooling_kernels import first_largest
from gradstep.core.ops.catalogue.neural.pooling_rules import check_pool
from gradstep.core.ops.catalogue.neural.pooling_windows import RANK, Pool
from gradstep.core.ops.catalogue.neural.sliding_windows import known_sizes
from gradstep.core.ops.catalogue.neural.window_attributes import PADDINGS
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.parted_calls import make_calls
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.typing.static_values import shape_of, zeros_like


def _type(ctx: InferContext) -> tuple[TensorType, TensorType]:
    pool, dtype = check_pool(ctx, True, ctx.types)
    shape = Shape(pool.out_sizes(known_sizes(ctx.types[0], RANK)))
    return TensorType(dtype, shape), TensorType(_index_type(ctx), shape)


def _index_type(ctx: InferContext) -> DType:
    kind = DType(ctx.attr("Targmax"))
    if kind not in (DType.INT32, DType.INT64):
        raise wrong_type(ctx, kind, "indices of int32 or int64")
    return kind


def _with_argmax(
    xp: Any,
    x: Any,
    *,
    op: Operation,
    Targmax: DType,  # noqa: N803
    include_batch_in_index: bool,
) -> tuple[Any, Any]:
    pool = Pool(op.type, op.attrs, depth=True)
    pool.out_sizes(x.shape)
    axes = pool.axes(x.shape)
    place = _places(xp, make_calls(first_largest(xp, x, axes, xp.empty), xp.empty), axes)
    image = xp.arange(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1)) * prod(x.shape[1:])
    values = xp.take(x.reshape(-1), place + image, axis=0)
    return values, (place + image if include_batch_in_index else place).astype(DType(Targmax).numpy)


def _places(xp: Any, number: Any, axes: Axes) -> Any:
    """Where in the flattened image each window's tap of this number is."""
    total, step = xp.zeros(number.shape, np.int64), 1
    for place, axis in reversed(list(enumerate(axes, start=1))):
        shape = [-1 if i == place else 1 for i in range(number.ndim)]
        starts = (np.arange(axis.out) * axis.stride - axis.before).reshape(shape)
        total = total + (number % axis.window + xp.asarray(starts)) * step
        number = number // axis.window
        step *= axis.size
    return total


def _gradient(op: OpView, g: Tensor, _: Tensor | None) -> Tensor:
    attrs = {k: v for k, v in op.operation.attrs.items() if k in _ATTRS and k != "Targmax"}
    return call("MaxPoolGradWithArgmax", op.inputs[0], g, op.outputs[1], **attrs)


def _back_type(ctx: InferContext) -> TensorType:
    pool, dtype = check_pool(ctx, True, ctx.types[:2])
    image, g, argmax = (known_sizes(kind, RANK) for kind in ctx.types)
    wanted = pool.out_sizes(image)
    pool.check("grad", wanted, g)
    pool.check("argmax", wanted, argmax)
    if ctx.types[2].dtype not in (DType.INT32, DType.INT64):
        raise wrong_type(ctx, ctx.types[2].dtype, "indices of int32 or int64")
    return TensorType(dtype, Shape(image))


def _back(
    xp: Any, x: Any, g: Any, argmax: Any, *, op: Operation, include_batch_in_index: bool
) -> Any:
    pool, size = Pool(op.type, op.attrs, depth=True), prod(x.shape[1:])
    pool.check("grad", pool.out_sizes(x.shape), g.shape)
    pool.check("argmax", g.shape, argmax.shape)
    if not include_batch_in_index:
        image = xp.arange(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1))
        argmax = argmax + image * size
    outside = (argmax < 0) | (argmax >= x.size)
    if g.size and xp.any(outside).item():
        raise GradstepError(
            f"Invalid element in argmax, must be in [0, {x.size})",
            hint="it must come from pooling this input",
        )
    out = xp.zeros(x.size, g.dtype)
    xp.add.at(out, argmax.reshape(-1), g.reshape(-1))
    return out.reshape(x.shape)


def _back_gradient(op: OpView, g: Tensor) -> list[Tensor | None]:
    """What `g` has at the indices, of the whole batch or of each image."""
    x, _, argmax = op.inputs
    if op.get_attr("include_batch_in_index"):
        return [zeros_like(x), call("GatherV2", call("Reshape", g, ints(-1)), argmax, 0), None]
    rows = call("ConcatV2", call("Slice", call("Shape", x), ints(0), ints(1)), ints(-1), 0)
    images, places = call("Reshape", g, rows), call("Reshape", argmax, rows)
    found = call("GatherV2", images, places, 1, batch_dims=1)
    return [zeros_like(x), call("Reshape", found, shape_of(argmax)), None]


def _samples(rng: np.random.Generator) -> list[Sample]:
    plain = [s for s in mean_samples(rng) if "data_format" not in s.attrs]
    return [
        *plain,
        Sample(plain[0].inputs, {**plain[0].attrs, "include_batch_in_index": True}),
        Sample(plain[1].inputs, {**plain[1].attrs, "Targmax": DType.INT32}),
    ]


def _back_samples(rng: np.random.Generator) -> list[Sample]:
    return [_back_sample(rng, s.inputs[0], s.attrs) for s in _samples(rng)]


def _back_sample(rng: np.random.Generator, x: Any, attrs: Mapping[str, Any]) -> Sample:
    given = {"include_batch_in_index": False, "Targmax": DType.INT64, **attrs}
    operation = Operation("pool", "MaxPoolWithArgmax", attrs=given)
    wanted = {k: given[k] for k in ("Targmax", "include_batch_in_index")}
    y, argmax = _with_argmax(np, x, op=operation, **wanted)
    kept = {k: v for k, v in attrs.items() if k != "Targmax"}
    return Sample((x, rng.normal(size=y.shape), argmax), kept)


_ATTRS: dict[str, Any] = {
    "ksize": tuple,
    "strides": tuple,
    "Targmax": DType.INT64,
    "padding": str,
    "include_batch_in_index": False,
}

op(
    "MaxPoolWithArgmax",
    inputs="input",
    outputs="output argmax",
    attrs=_ATTRS,
    type_attrs={"T": "input"},
    choices={"padding": PADDINGS, "Targmax": INDEX},
    formula="pool(max, input, slide)",
    infer=_type,
    kernel=_with_argmax,
    gradient=_gradient,
    samples=_samples,
    arithmetic="exact",
    doc="The largest value of each window, and its index in the flattened image.",
    kinks="where several are the largest, index and gradient are those of the first",
)
op(
    "MaxPoolGradWithArgmax",
    inputs="input grad argmax",
    attrs={k: v for k, v in _ATTRS.items() if k != "Targmax"},
    type_attrs={"T": "grad", "Targmax": "argmax"},
    choices={"padding": PADDINGS},
    formula="pool_max_back(input, grad, slide)",
    infer=_back_type,
    kernel=Kernels(_back, asks="whether indices are inside"),
    gradient=_back_gradient,
    samples=_back_samples,
    arithmetic="reducing",
    doc="The gradient of MaxPoolWithArgmax: each window's goes to the index that was found.",
    differs="it has a gradient, in TensorFlow none",
)
