"""The product of elements over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.catalogue.math.sum_and_mean import axes_of, samples
from gradstep.core.ops.declare.axes import axes_vector, reduction, resolve_axes, spread
from gradstep.core.ops.declare.declared_gradient import Defect, Gradient
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.table import Sample, op
from gradstep.core.ops.declare.type_rules import numeric
from gradstep.core.ops.typing.static_values import conj, constant_of, reshape_like, shape_of

_ZERO = np.array(0, np.int32)


def _prod(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    return xp.prod(x, axis=axes_of(x, axes), dtype=x.dtype, keepdims=keep_dims)


def _gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """For each element the product of all others: those before it times those after it, which
    is right for zeros, too. Reduced axes go to the front and become one."""
    x, axes = op.inputs
    constant, rank = constant_of(axes), x.shape.rank
    order: Any
    back: Any
    if constant is None or rank is None:
        order, back, sizes = _order_while_running(x, axes)
    else:
        over = resolve_axes(integers(constant), rank)
        order = np.array([*over, *(i for i in range(rank) if i not in over)], np.int32)
        back, sizes = np.argsort(order).astype(np.int32), _known_sizes(x, over)
    moved = call("Transpose", x, order)
    flat = call("Reshape", moved, sizes)
    before = call("Cumprod", flat, _ZERO, exclusive=True)
    after = call("Cumprod", flat, _ZERO, exclusive=True, reverse=True)
    others = call("Reshape", conj(before) * conj(after), shape_of(moved))
    return reshape_like(spread(g, x, axes) * call("Transpose", others, back), x), None


def _known_sizes(x: Tensor, over: tuple[int, ...]) -> Any:
    """[product of the reduced sizes, product of the others], as Reshape takes it."""
    if not x.shape.is_static:
        others = [i for i in range(x.shape.rank or 0) if i not in over]
        return _sizes(call("Shape", x), np.array(over, np.int32), np.array(others, np.int32))
    sizes = x.shape.static()
    first = [sizes[i] for i in over]
    rest = [d for i, d in enumerate(sizes) if i not in over]
    return np.array([np.prod(first, dtype=np.int64), np.prod(rest, dtype=np.int64)], np.int32)


def _order_while_running(x: Tensor, axes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The reduced axes and then the others; how to go back; the product of both sizes."""
    rank = call("Rank", x)
    over = call("FloorMod", axes_vector(axes), rank)
    everything = call("Range", _ZERO, rank, np.array(1, np.int32))
    others = call_many("ListDiff", everything, over)[0]
    order = call("ConcatV2", over, others, _ZERO)
    return order, call("InvertPermutation", order), _sizes(call("Shape", x), over, others)


def _sizes(shape: Tensor, *parts: Any) -> Tensor:
    products = [call("Prod", call("GatherV2", shape, part, _ZERO), _ZERO) for part in parts]
    return call("Pack", *products, axis=0)


def _samples(rng: np.random.Generator) -> list[Sample]:
    zeros = np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 2.0]])
    return [*samples(rng), Sample((zeros, np.array([1], np.int32)), differentiable=False)]


op(
    "Prod",
    inputs="input #reduction_indices:int32,int64",
    attrs={"keep_dims": False},
    type_attrs={"T": "input", "Tidx": "reduction_indices"},
    formula="prod(input, axes(reduction_indices), keepdims=keep_dims)",
    infer=numeric(reduction),
    kernel=_prod,
    gradient=Gradient(
        _gradient,
        defects=(
            Defect(
                "input",
                "where an element is 0 the gradient is right, but not its own gradient, which is "
                "Cumprod's",
                "math_grad.py, _ProdGrad and _CumprodGrad; recorded from TensorFlow 2.21",
                order=2,
            ),
        ),
    ),
    samples=_samples,
    arithmetic="reducing",
    causes=Causes(vanishes="underflow"),
    doc="The product over some axes.",
    differs="float16 products are rounded once at the end, so they may stay finite where "
    "TensorFlow's overflow on the way",
)
