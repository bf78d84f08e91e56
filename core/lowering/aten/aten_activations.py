"""Activation functions of PyTorch, and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower, lower_as_given
from gradstep.core.lowering.aten.aten_tensors import (
    along_axis,
    rank,
    scalar,
    to_result,
    transpose,
    wanted,
)
from gradstep.core.lowering.foreign_graph import ElementType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call


def times(x: Tensor, by: float) -> Tensor:
    return call("Mul", x, scalar(x, by))


def plus(x: Tensor, other: float) -> Tensor:
    return call("AddV2", x, scalar(x, other))


@lower("gelu", differs="PyTorch has it exactly (erf) unless asked for tanh")
def gelu(site: Site, self: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        cubed = call("Mul", call("Square", self), self)
        inner = times(call("AddV2", self, times(cubed, 0.044715)), math.sqrt(2 / math.pi))
        return call("Mul", times(self, 0.5), plus(call("Tanh", inner), 1))
    return call("Mul", times(self, 0.5), plus(call("Erf", times(self, math.sqrt(0.5))), 1))


@lower("silu")
def silu(site: Site, self: Tensor) -> Tensor:
    return call("Mul", self, call("Sigmoid", self))


@lower("mish")
def mish(site: Site, self: Tensor) -> Tensor:
    return call("Mul", self, call("Tanh", call("Softplus", self)))


@lower("relu6")
def relu6(site: Site, self: Tensor) -> Tensor:
    return call("Relu6", self)


@lower("hardtanh")
def hardtanh(site: Site, self: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    """PyTorch lets no gradient through on the bounds themselves, unlike clamp."""
    low, high = scalar(self, min_val), scalar(self, max_val)
    inside = call("LogicalAnd", call("Greater", self, low), call("Less", self, high))
    bounded = call("StopGradient", call("Minimum", call("Maximum", self, low), high))
    return call("SelectV2", inside, self, bounded)


@lower("hardswish")
def hardswish(site: Site, self: Tensor) -> Tensor:
    return times(call("Mul", self, call("Relu6", plus(self, 3))), 1 / 6)


@lower("hardsigmoid")
def hardsigmoid(site: Site, self: Tensor) -> Tensor:
    return times(call("Relu6", plus(self, 3)), 1 / 6)


@lower("leaky_relu")
def leaky_relu(site: Site, self: Tensor, negative_slope: float = 0.01) -> Tensor:
    return call("LeakyRelu", self, alpha=float(negative_slope))


@lower("elu")
def elu(
    site: Site, self: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1
) -> Tensor:
    if (alpha, scale, input_scale) == (1, 1, 1):
        return call("Elu", self)
    below = call("Expm1", times(call("Minimum", self, scalar(self, 0)), input_scale))
    positive = call("Greater", self, scalar(self, 0))
    return times(call("SelectV2", positive, self, times(below, alpha)), scale)


@lower("celu")
def celu(site: Site, self: Tensor, alpha: float = 1) -> Tensor:
    return elu(site, self, alpha, 1, 1 / alpha)


@lower("selu")
def selu(site: Site, self: Tensor) -> Tensor:
    return call("Selu", self)


@lower("softplus")
def softplus(site: Site, self: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Above the threshold PyTorch passes x on."""
    if beta == 1:
        soft = call("Softplus", self)
    else:
        soft = times(call("Softplus", times(self, beta)), 1 / beta)
    passes = call("Greater", times(self, beta), scalar(self, threshold))
    return call("SelectV2", passes, self, soft)


@lower("softsign")
def softsign(site: Site, self: Tensor) -> Tensor:
    return call("Softsign", self)


@lower("log_sigmoid")
def log_sigmoid(site: Site, self: Tensor) -> Tensor:
    return call("Neg", call("Softplus", call("Neg", self)))


@lower("log_sigmoid_forward")
def log_sigmoid_forward(site: Site, self: Tensor) -> list[Tensor]:
    return [log_sigmoid(site, self), site.constant(site.recorded(1))]


@lower_as_given("threshold")
def threshold(site: Site, self: Tensor, threshold: float, value: float) -> Tensor:
    above = call("Greater", self, scalar(self, threshold))
    return call("SelectV2", above, self, scalar(self, value))


@lower("prelu", "_prelu_kernel")
def prelu(site: Site, self: Tensor, weight: Tensor) -> Tensor:
    many = rank(weight) == 1 and rank(self) > 1
    slope = along_axis(weight, 1, rank(self)) if many else weight
    above = call("Greater", self, scalar(self, 0))
    return call("SelectV2", above, self, call("Mul", self, slope))


@lower("glu")
def glu(site: Site, self: Tensor, dim: int = -1) -> Tensor:
    a, b = site.builder.op("Split", np.int32(dim % rank(self)), self, num_split=2)
    return call("Mul", a, call("Sigmoid", b))


@lower("softmax", "_softmax", ignores=("half_to_float",))
def softmax(site: Site, self: Tensor, dim: int, dtype: ElementType | None = None) -> Tensor:
    return _on_last_axis("Softmax", to_result(site, wanted(site, dtype, self)), dim)


@lower("log_softmax", "_log_softmax", ignores=("half_to_float",))
def log_softmax(site: Site, self: Tensor, dim: int, dtype: ElementType | None = None) -> Tensor:
    return _on_last_axis("LogSoftmax", to_result(site, wanted(site, dtype, self)), dim)


@lower("_safe_softmax")
def safe_softmax(site: Site, self: Tensor, dim: int, dtype: ElementType | None = None) -> Tensor:
    x = to_result(site, wanted(site, dtype, self))
    return with_hidden_rows(x, dim, lambda seen: _on_last_axis("Softmax", seen, dim))


def with_hidden_rows(x: Tensor, dim: int, soft: Callable[[Tensor], Tensor]) -> Tensor:
    """`soft` of x along an axis, where a row of nothing but -inf gives zeros, and zeros come back
    to it."""
    masked = call("Equal", x, scalar(x, -math.inf))
    hidden = call("All", masked, np.array([dim % rank(x)], np.int32), keep_dims=True)
    seen = call("SelectV2", hidden, scalar(x, 0), x)
    return call("SelectV2", hidden, scalar(x, 0), soft(seen))


def _on_last_axis(type: str, x: Tensor, dim: int) -> Tensor:
    """Classes are the last axis here, any in PyTorch."""
    count = rank(x)
    if count == 0:
        raise UnloweredError("softmax of a single number")
    axis = dim % count
    if axis == count - 1:
        return call(type, x)
    order = [*(i for i in range(count) if i != axis), axis]
    return transpose(call(type, transpose(x, order)), [int(i) for i in np.argsort(order)])
