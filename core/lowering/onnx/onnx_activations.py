"""Activation functions of ONNX, and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Build, Site
from gradstep.core.lowering.onnx.onnx_operands import (
    along_axis,
    apply,
    cast,
    dims,
    flattened,
    positive,
    rank,
    reshape,
    scalar,
    sizes,
    swapped,
)
from gradstep.core.lowering.onnx.onnx_table import lower, version
from gradstep.core.ops.build.builder import Tensor, call

_SELU = 1.67326319217681884765625, 1.05070102214813232421875  # alpha, gamma


@lower("Relu")
def relu(site: Site, x: Tensor) -> Tensor:
    return apply("Relu", x)


@lower("Softplus")
def softplus(site: Site, x: Tensor) -> Tensor:
    return call("Softplus", x)


@lower("Softsign")
def softsign(site: Site, x: Tensor) -> Tensor:
    return call("Softsign", x)


@lower("LeakyRelu")
def leaky_relu(site: Site, x: Tensor, *, alpha: float = 0.01) -> Tensor:
    return call("LeakyRelu", x, alpha=float(alpha))


@lower("PRelu")
def p_relu(site: Site, x: Tensor, slope: Tensor) -> Tensor:
    """Before version 7, a slope for each channel was a vector."""
    if version(site) < 7 and rank(slope) == 1 and dims(slope) != (1,):
        slope = along_axis(slope, 1, rank(x))
    below = apply("Less", x, scalar(x, 0))
    return call("SelectV2", below, apply("Mul", x, slope), x)


@lower("Elu")
def elu(site: Site, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return _scaled_below(call("Elu", x), x, alpha)


@lower("Selu")
def selu(site: Site, x: Tensor, *, alpha: float = _SELU[0], gamma: float = _SELU[1]) -> Tensor:
    return call("Mul", _scaled_below(call("Elu", x), x, alpha), scalar(x, gamma))


@lower("Celu")
def celu(site: Site, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    y = call("Elu", call("RealDiv", x, scalar(x, alpha)))
    return call("SelectV2", _is_above(x), x, call("Mul", y, scalar(x, alpha)))


def _scaled_below(y: Tensor, x: Tensor, by: float) -> Tensor:
    if by == 1:
        return y
    return call("SelectV2", _is_above(x), y, call("Mul", y, scalar(y, by)))


def _is_above(x: Tensor, bound: float = 0.0) -> Tensor:
    return apply("Greater", x, scalar(x, bound))


@lower("ThresholdedRelu")
def thresholded_relu(site: Site, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return call("SelectV2", _is_above(x, alpha), x, scalar(x, 0))


@lower("Shrink")
def shrink(site: Site, x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    above = call("Sub", x, scalar(x, bias))
    below = call("AddV2", x, scalar(x, bias))
    low = apply("Less", x, scalar(x, -lambd))
    return call("SelectV2", low, below, call("SelectV2", _is_above(x, lambd), above, scalar(x, 0)))


@lower("HardSigmoid")
def hard_sigmoid(site: Site, x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    line = call("AddV2", call("Mul", x, scalar(x, alpha)), scalar(x, beta))
    return call("Minimum", call("Maximum", line, scalar(x, 0)), scalar(x, 1))


@lower("HardSwish")
def hard_swish(site: Site, x: Tensor) -> Tensor:
    return call("Mul", x, hard_sigmoid(site, x, alpha=1 / 6, beta=0.5))


@lower("Swish")
def swish(site: Site, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    inner = x if alpha == 1 else call("Mul", x, scalar(x, alpha))
    return call("Mul", x, call("Sigmoid", inner))


@lower("Mish")
def mish(site: Site, x: Tensor) -> Tensor:
    return call("Mul", x, call("Tanh", call("Softplus", x)))


@lower("Gelu")
def gelu(site: Site, x: Tensor, *, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        cube = call("Mul", call("Pow", x, scalar(x, 3)), scalar(x, 0.044715))
        inner = call("Mul", call("AddV2", x, cube), scalar(x, math.sqrt(2 / math.pi)))
        share = call("Tanh", inner)
    else:
        share = call("Erf", call("Mul", x, scalar(x, math.sqrt(0.5))))
    half = call("Mul", x, scalar(x, 0.5))
    return call("Mul", half, call("AddV2", share, scalar(x, 1)))


# -- over an axis ----------------------------------------------------------------------------------


def over_axis(x: Tensor, axis: int, build: Callable[[Tensor], Tensor]) -> Tensor:
    """`build` of the last axis, of another one."""
    place, last = positive(axis, rank(x)), rank(x) - 1
    return swapped(build(swapped(x, place, last)), place, last)


def _normalized(type: str) -> Build:
    """Before version 13, over all axes from one on together."""

    def build(site: Site, x: Tensor, *, axis: int | None = None) -> Tensor:
        if version(site) >= 13:
            return over_axis(x, -1 if axis is None else axis, lambda y: call(type, y))
        place = positive(1 if axis is None else axis, rank(x))
        return reshape(call(type, flattened(x, place)), sizes(x))

    return build


lower("Softmax")(_normalized("Softmax"))
lower("LogSoftmax")(_normalized("LogSoftmax"))


@lower("Hardmax")
def hardmax(site: Site, x: Tensor, *, axis: int | None = None) -> Tensor:
    def largest(y: Tensor) -> Tensor:
        last = rank(y) - 1
        first = call("ArgMax", y, np.int32(last), output_type=DType.INT32)
        count = sizes(y)[last]
        depth = count if isinstance(count, Tensor) else np.int32(count)
        return call("OneHot", first, depth, scalar(y, 1), scalar(y, 0), axis=-1)

    if version(site) >= 13:
        return over_axis(x, -1 if axis is None else axis, largest)
    place = positive(1 if axis is None else axis, rank(x))
    return cast(reshape(largest(flattened(x, place)), sizes(x)), x.dtype)


@lower("SwiGLU")
def swi_glu(site: Site, gate: Tensor, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return call("Mul", swish(site, gate, alpha=alpha), x)
