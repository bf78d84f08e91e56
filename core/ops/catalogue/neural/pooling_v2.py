"""Max pooling whose window and strides are tensors, told while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural import pooling_kernels
from gradstep.core.ops.catalogue.neural.pooling_windows import RANK, Pool
from gradstep.core.ops.catalogue.neural.sliding_windows import (
    Sizes,
    certain,
    known_sizes,
    require_rank,
)
from gradstep.core.ops.catalogue.neural.window_attributes import FORMATS_2D, PADDINGS
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.kernel_forms import kernels_of
from gradstep.core.ops.declare.parted_calls import make_calls
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, Samples, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.typing.static_values import zeros_like

_ATTRS: dict[str, Any] = {"padding": str, "data_format": "NHWC"}


def _pool(op: Operation, ksize: Any, strides: Any) -> Pool:
    told = {"ksize": integers(ksize), "strides": integers(strides)}
    return Pool(op.type, {**_ATTRS, **op.attrs, **told}, depth=True)


def _known_pool(ctx: InferContext) -> Pool | None:
    """The window, where it is known; the last two inputs tell it."""
    count = len(ctx.types)
    for index in (count - 2, count - 1):
        want_rank(ctx, index, 1)
    ksize, strides = ctx.constant(count - 2), ctx.constant(count - 1)
    return None if ksize is None or strides is None else _pool(ctx.op, ksize, strides)


def _image(ctx: InferContext) -> tuple[DType, Sizes]:
    dtype = one_dtype(ctx, ctx.types[:-2])
    if not (dtype.is_floating or dtype.is_integer):
        raise wrong_type(ctx, dtype, "integers or floating-point numbers")
    sizes = known_sizes(ctx.types[0], RANK)
    require_rank("input", sizes, RANK)
    return dtype, sizes


def _pooled(ctx: InferContext) -> TensorType:
    """Type rule of what is as large as the pool's output."""
    (dtype, sizes), pool = _image(ctx), _known_pool(ctx)
    out = (sizes[0], *(None,) * (RANK - 1)) if pool is None else pool.out_sizes(sizes)
    return TensorType(dtype, Shape(out))


def _back_type(ctx: InferContext) -> TensorType:
    """Type rule of `back(orig_input, orig_output, grad, …)`."""
    dtype, sizes = _image(ctx)
    _known_pool(ctx)
    return TensorType(dtype, Shape(sizes))


def _largest(
    xp: Any, x: Any, ksize: Any, strides: Any, *, op: Operation, out: Any, room: Any
) -> Calls:
    pool = _pool(op, ksize, strides)
    pool.out_sizes(x.shape)  # raises where no window fits
    yield from pooling_kernels.largest(xp, x, pool.axes(x.shape), out, room)


def _back(
    xp: Any, x: Any, y: Any, g: Any, ksize: Any, strides: Any, *, op: Operation, out: Any, room: Any
) -> Calls:
    pool = _pool(op, ksize, strides)
    pool.check("grad", pool.out_sizes(x.shape), g.shape)
    yield from pooling_kernels.largest_back(xp, x, g, pool.axes(x.shape), out, room)


def _again(
    xp: Any, x: Any, y: Any, g: Any, ksize: Any, strides: Any, *, op: Operation, out: Any, room: Any
) -> Calls:
    pool = _pool(op, ksize, strides)
    pool.check("grad", x.shape, g.shape)
    yield from pooling_kernels.chosen(xp, x, y, g, pool.axes(x.shape), out, room)


def _empty(xp: Any, x: Any, ksize: Any, strides: Any, *, op: Operation) -> Any:
    return xp.empty(_pool(op, ksize, strides).out_sizes(x.shape), x.dtype)


def _empty_back(xp: Any, x: Any, y: Any, g: Any, *window: Any, op: Operation) -> Any:
    return xp.empty(x.shape, g.dtype)


def _empty_again(xp: Any, x: Any, y: Any, g: Any, *window: Any, op: Operation) -> Any:
    return xp.empty(y.shape, g.dtype)


def _given(op: OpView) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in _ATTRS}


def _gradient(op: OpView, g: Tensor) -> tuple[Tensor, None, None]:
    x, ksize, strides = op.inputs
    return call("MaxPoolGradV2", x, op.outputs[0], g, ksize, strides, **_given(op)), None, None


def _back_gradient(op: OpView, g: Tensor) -> tuple[Tensor | None, ...]:
    """Which element is the largest does not change."""
    x, y, _, ksize, strides = op.inputs
    again = call("MaxPoolGradGradV2", x, y, g, ksize, strides, **_given(op))
    return zeros_like(x), zeros_like(y), again, None, None


def _samples(also: Callable[[Any, Any, np.random.Generator], tuple[Any, ...]]) -> Samples:
    """also: what comes between the image and the window, from the image and what pooling gives."""

    def make(rng: np.random.Generator) -> list[Sample]:
        found = []
        for size, ksize, strides, padding in (
            ((2, 4, 2, 2), ints(1, 2, 2, 1), ints(1, 2, 2, 1), "VALID"),
            ((1, 3, 4, 1), ints(1, 2, 3, 1), ints(1, 1, 1, 1), "SAME"),
        ):
            x = rng.permutation(np.prod(size)).reshape(size) / 3.0
            attrs = {"ksize": integers(ksize), "strides": integers(strides), "padding": padding}
            pool = Pool("MaxPoolV2", attrs, depth=True)
            y = np.empty(certain(pool.out_sizes(size)))
            make_calls(pooling_kernels.largest(np, x, pool.axes(size), y, np.empty), np.empty)
            inputs = (x, *also(x, y, rng), ksize, strides)
            found.append(Sample(inputs, {"padding": padding}))
        return found

    return make


_CHOICES = {"padding": PADDINGS, "data_format": FORMATS_2D}
_KINKS = "zeros for orig_input and orig_output: which element is the largest does not change"

op(
    "MaxPoolV2",
    inputs="input #ksize:int32 #strides:int32",
    attrs=_ATTRS,
    type_attrs={"T": "input"},
    choices=_CHOICES,
    formula="pool(max, input, slide)",
    infer=_pooled,
    kernel=kernels_of(_largest, _empty),
    gradient=_gradient,
    samples=_samples(lambda x, y, rng: ()),
    arithmetic="exact",
    doc="MaxPool with the window and the strides as inputs.",
    kinks="where several are the largest, the gradient goes to the first",
)
op(
    "MaxPoolGradV2",
    inputs="orig_input orig_output grad #ksize:int32 #strides:int32",
    attrs=_ATTRS,
    type_attrs={"T": "grad"},
    choices=_CHOICES,
    formula="pool_max_back(orig_input, grad, slide)",
    infer=_back_type,
    kernel=kernels_of(_back, _empty_back),
    gradient=_back_gradient,
    samples=_samples(lambda x, y, rng: (y, rng.normal(size=y.shape))),
    arithmetic="reducing",
    doc="The gradient of MaxPoolV2: each window's goes to the first of its largest values.",
    kinks=_KINKS,
)
op(
    "MaxPoolGradGradV2",
    inputs="orig_input orig_output grad #ksize:int32 #strides:int32",
    attrs=_ATTRS,
    type_attrs={"T": "grad"},
    choices=_CHOICES,
    formula="pool_at(orig_input, grad, slide)",
    infer=_pooled,
    kernel=kernels_of(_again, _empty_again),
    samples=_samples(lambda x, y, rng: (y, rng.normal(size=x.shape))),
    arithmetic="exact",
    doc="The gradient of MaxPoolGradV2: what `grad` has where each window's largest value is.",
    kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
)
