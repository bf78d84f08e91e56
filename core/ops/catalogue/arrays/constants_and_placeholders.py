"""Where values come from: feeds, constants, and tensors made of one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Constant
from gradstep.core.ops.build.builder import call
from gradstep.core.ops.build.constant_cast import convert_constant
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE, Gradient
from gradstep.core.ops.declare.host_arrays import home, integers, is_integer
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Stateful
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import shape_from_sizes, unref, want_rank, wrong_type
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.typing.static_values import all_axes


def _declared(ctx: InferContext) -> TensorType:
    """Of a handle the shape here is its variable's, which nobody knows."""
    dtype = ctx.attr("dtype")
    return TensorType(dtype, UNKNOWN if dtype is DType.RESOURCE else ctx.attr("shape"))


op(
    "Placeholder",
    attrs={"dtype": DType, "shape": UNKNOWN},
    infer=_declared,
    doc="A value that must be fed to every run.",
)


def _default(ctx: InferContext) -> TensorType:
    given, declared = ctx.types[0], ctx.attr("shape")
    try:
        given.shape.merge(declared)
    except ValueError:
        raise ctx.fail(
            f"The default's shape {brackets(given.shape)} is not compatible with "
            f"{brackets(declared)}",
            hint="correct the shape attribute, or the default",
        ) from None
    return TensorType(given.dtype, declared)


op(
    "PlaceholderWithDefault",
    inputs="input",
    attrs={"shape": UNKNOWN},
    type_attrs={"dtype": "input"},
    formula="input",
    infer=_default,
    kernel=lambda xp, x: x,
    gradient=Gradient(lambda op, g: g, takes_slices=True),
    state=Stateful(),  # what is fed takes its place, so it is not known before running
    samples=lambda rng: [
        Sample((rng.normal(size=shape),), {"shape": Shape(shape)}) for shape in ((2, 3), ())
    ],
    arithmetic="exact",
    doc="A value that may be fed to a run; the input where it is not.",
)


def _constant(ctx: InferContext) -> TensorType:
    value = ctx.attr("value").array
    dtype = DType.of(value.dtype)
    said = ctx.op.attrs.get("dtype", dtype)
    if said != dtype:
        raise ctx.fail(
            f"attribute 'dtype' is {said}, but the value is of {dtype.value}",
            hint="write the value again, or choose another dtype",
        )
    return TensorType(dtype, Shape(tuple(value.shape)))


def _in_its_dtype(attrs: Mapping[str, Any]) -> Mapping[str, Any]:
    """A constant's attributes once its dtype has been set."""
    if "dtype" not in attrs:
        return attrs
    value = convert_constant(attrs["value"].array, DType(attrs["dtype"]))
    return {**attrs, "value": Constant(value)}


def _with_its_dtype(attrs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same once its value has been set."""
    return {**attrs, "dtype": DType.of(attrs["value"].array.dtype)}


def _held(xp: Any, *, op: Any) -> Any:
    array = op.attrs["value"].array
    return home(xp, array).asarray(array)


op(
    "Const",
    attrs={"value": Constant, "dtype": DType},
    follow={"dtype": _in_its_dtype, "value": _with_its_dtype},
    formula="value",
    infer=_constant,
    kernel=_held,
    samples=lambda rng: [Sample((), {"value": Constant(rng.uniform(-1, 1, (2, 3)))})],
    arithmetic="exact",
    doc="A constant tensor.",
)


def _empty_type(ctx: InferContext) -> TensorType:
    dims = ctx.constant(0)
    want_rank(ctx, 0, 1)
    if dims is None:
        return TensorType(ctx.attr("dtype"), shape_from_sizes(ctx.types[0].shape))
    return TensorType(ctx.attr("dtype"), Shape(_sizes(dims)))


def _sizes(dims: Any) -> tuple[int, ...]:
    sizes = integers(dims)
    if min(sizes, default=0) < 0:
        raise GradstepError(f"Dimension {min(sizes)} must be >= 0", hint="name every size")
    return sizes


op(
    "Empty",
    inputs="#shape:int32",
    attrs={"dtype": DType, "init": False},
    formula="zeros(shape)",
    infer=_empty_type,
    kernel=lambda xp, dims, *, dtype: xp.zeros(_sizes(dims), dtype=DType(dtype).numpy),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((np.array(dims, np.int32),)) for dims in ((2, 3), (0,), ())],
    arithmetic="exact",
    doc="A tensor of the given sizes whose values do not matter.",
    differs="it holds zeros, whatever init says; TensorFlow leaves what was in the memory",
)


def _fill(xp: Any, dims: Any, value: Any) -> Any:
    return xp.array(xp.broadcast_to(value, _filled_shape(dims)))


def _filled_shape(dims: Any) -> tuple[int, ...]:
    sizes = integers(dims)
    if min(sizes, default=0) < 0:
        raise GradstepError(f"Fill dimensions must be >= 0, not {list(sizes)}")
    return sizes


def _filled(ctx: InferContext) -> TensorType:
    dims = ctx.constant(0)
    if ctx.types[1].shape.rank not in (None, 0):
        raise ctx.fail(f"Fill needs a scalar value, not shape {ctx.types[1].shape}")
    want_rank(ctx, 0, 1)
    if dims is not None:
        return TensorType(ctx.types[1].dtype, Shape(_filled_shape(dims)))
    return TensorType(ctx.types[1].dtype, shape_from_sizes(ctx.types[0].shape))


op(
    "Fill",
    inputs="#dims:int32,int64 value",
    type_attrs={"T": "value", "index_type": "dims"},
    formula="full(dims, value)",
    infer=_filled,
    kernel=_fill,
    gradient=lambda op, g: (None, call("Sum", g, all_axes(g))),
    samples=lambda rng: (
        [
            Sample((np.array(dims, np.int32), rng.uniform(-1, 1, ())))
            for dims in ((2, 3), (4,), (0,))
        ]
        + [Sample((np.zeros(0, np.int32), rng.uniform(-1, 1, ())))]
    ),
    arithmetic="exact",
    python="fill",
    doc="A tensor of the given sizes, every element the same value.",
)


def _zeros_calls(xp: Any, x: Any, *, out: Any, room: Any) -> Calls:
    yield out.fill, 0


def _ones_calls(xp: Any, x: Any, *, out: Any, room: Any) -> Calls:
    yield out.fill, 1


def _zeros(xp: Any, x: Any) -> Any:
    if x.dtype.hasobject:  # strings
        return np.full(x.shape, b"", dtype=object)
    return xp.zeros_like(x)


def _numbers_or_flags(ctx: InferContext) -> TensorType:
    if ctx.types[0].dtype in (DType.STRING, DType.RESOURCE):
        raise wrong_type(ctx, ctx.types[0].dtype, "numbers or bool")
    return unref(ctx)


op(
    "ZerosLike",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="zeros_like(x)",
    infer=unref,
    kernel=Kernels(_zeros, calls=_zeros_calls),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    arithmetic="exact",
    python="zeros_like",
    doc="Zeros in the shape and element type of x.",
)
op(
    "OnesLike",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="ones_like(x)",
    infer=_numbers_or_flags,
    kernel=Kernels(lambda xp, x: xp.ones_like(x), calls=_ones_calls),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    arithmetic="exact",
    python="ones_like",
    doc="Ones in the shape and element type of x.",
)


_MOST = 2**63 - 1  # elements, as TensorFlow limits them


def _range(xp: Any, start: Any, limit: Any, delta: Any) -> Any:
    count = _count(start, limit, delta)
    return xp.asarray(start) + xp.asarray(delta) * xp.arange(count).astype(start.dtype)


def _count(start: Any, limit: Any, delta: Any) -> int:
    """How many elements there are from `start` to before `limit`, arrays of rank 0."""
    first, last, step = start.item(), limit.item(), delta.item()
    if step == 0:
        raise GradstepError("Requires delta != 0: 0", hint="use 1 or -1")
    if (step > 0) != (first <= last) and first != last:
        word, sign = ("<=", ">") if step > 0 else (">=", "<")
        raise GradstepError(
            f"Requires start {word} limit when delta {sign} 0: {first}/{last}",
            hint="change the sign of delta, or swap start and limit",
        )
    if is_integer(start):
        return int(-(-abs(last - first) // abs(step)))
    with np.errstate(all="ignore"):  # in the element type's own precision, as TensorFlow counts
        count = float(np.ceil(np.abs((limit - start) / delta)))
    if not count <= _MOST:
        raise GradstepError(
            f"Requires ((limit - start) / delta) <= {_MOST}", hint="use finite numbers"
        )
    return int(count)


def _ranged(ctx: InferContext) -> TensorType:
    dtype = one_dtype(ctx)
    if dtype.is_complex or not (dtype.is_integer or dtype.is_floating):
        raise wrong_type(ctx, dtype, "real numbers")
    for index in range(3):
        want_rank(ctx, index, 0)
    ends = [ctx.constant(i) for i in range(3)]
    if any(e is None for e in ends):
        return TensorType(dtype, Shape.of(None))
    return TensorType(dtype, Shape.of(_count(*ends)))


op(
    "Range",
    inputs="#start #limit #delta",
    type_attrs={"Tidx": "start"},
    formula="arange(start, limit, delta)",
    infer=_ranged,
    kernel=_range,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((np.int32(1), np.int32(8), np.int32(3))),
        Sample((np.array(2.0), np.array(0.0), np.array(-0.5))),
        Sample((np.int32(0), np.int32(0), np.int32(1))),
    ],
    doc="start, start + delta, … up to limit, which is left out.",
)
