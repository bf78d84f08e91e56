"""PyTorch's reductions over axes, and running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import (
    axes_of,
    cast,
    ints,
    product,
    rank,
    reshape,
    scalar,
    size_at,
    to_result,
)
from gradstep.core.lowering.foreign_graph import ElementType
from gradstep.core.lowering.lowering_table import Build, Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

Dims = int | list[int] | None


def reduced(type: str, x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    return call(type, x, ints(axes_of(x, dim)), keep_dims=bool(keepdim))


def _reduction(type: str) -> Build:
    def build(
        site: Site,
        self: Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        dtype: ElementType | None = None,
    ) -> Tensor:
        return reduced(type, to_result(site, self), dim, keepdim)

    return build


for _name, _type in {
    "sum": "Sum",
    "mean": "Mean",
    "prod": "Prod",
    "amax": "Max",
    "amin": "Min",
    "any": "Any",
    "all": "All",
    "max.default": "Max",
    "min.default": "Min",
}.items():
    lower(_name)(_reduction(_type))


@lower("nansum", "nanmean")
def of_numbers(
    site: Site,
    self: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    dtype: ElementType | None = None,
) -> Tensor:
    """Of what is not NaN."""
    x = to_result(site, self)
    if not x.dtype.is_floating:
        return reduced("Sum", x, dim, keepdim)
    none = call("IsNan", x)
    total = reduced("Sum", call("SelectV2", none, scalar(x, 0), x), dim, keepdim)
    if "nansum" in site.node.op:
        return total
    count = reduced("Sum", cast(call("LogicalNot", none), x.dtype), dim, keepdim)
    return call("RealDiv", total, count)


@lower("logsumexp")
def logsumexp(site: Site, self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    top = call("StopGradient", reduced("Max", self, dim, True))
    top = call("SelectV2", call("IsFinite", top), top, scalar(self, 0))
    total = reduced("Sum", call("Exp", call("Sub", self, top)), dim, True)
    whole = call("AddV2", call("Log", total), top)
    return whole if keepdim else reduced("Sum", whole, dim, False)


def _moments(
    site: Site, x: Tensor, dim: Dims, correction: Any, unbiased: Any, keepdim: bool
) -> tuple[Tensor, Tensor]:
    """Variance and mean."""
    if correction is None:
        correction = 1 if unbiased is None else int(bool(unbiased))
    count = product([size_at(x, axis) for axis in axes_of(x, dim)])
    mean = reduced("Mean", x, dim, True)
    squares = call("SquaredDifference", x, mean)
    over = max(count - correction, 0)
    total = reduced("Sum", squares, dim, keepdim)
    by = 1 / over if over else np.inf
    shown = mean if keepdim else reduced("Sum", mean, dim, False)
    return call("Mul", total, scalar(x, by)), shown


@lower("var", "std", "var_mean", "std_mean")
def variance(
    site: Site,
    self: Tensor,
    dim: Dims = None,
    correction: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
) -> list[Tensor]:
    name = site.node.op.split(".")[1]
    var, mean = _moments(site, self, dim, correction, unbiased, keepdim)
    first = safe_root(var) if name.startswith("std") else var
    return [first, mean] if name.endswith("_mean") else [first]


@lower("linalg_vector_norm", "norm", "frobenius_norm")
def vector_norm(
    site: Site,
    self: Tensor,
    ord: Any = None,
    p: Any = None,
    dim: Dims = None,
    keepdim: bool = False,
    dtype: ElementType | None = None,
) -> Tensor:
    """At 0 PyTorch's gradient is 0, where the root's is NaN."""
    kind = 2.0 if ord is None and p is None else float(p if ord is None else ord)
    return norm(to_result(site, self), kind, dim, keepdim)


def norm(x: Tensor, order: float, dim: Dims, keepdim: bool) -> Tensor:
    if order <= 0 and not np.isinf(order):
        raise UnloweredError(f"norm of order {order}")
    if order == 1:
        return reduced("Sum", call("Abs", x), dim, keepdim)
    if np.isinf(order):
        return reduced("Max" if order > 0 else "Min", call("Abs", x), dim, keepdim)
    if order == 2:
        return safe_root(reduced("Sum", call("Square", x), dim, keepdim))
    powers = _safe_power(call("Abs", x), order)
    return _safe_power(reduced("Sum", powers, dim, keepdim), 1 / order)


def safe_root(squares: Tensor) -> Tensor:
    """The root, with gradient 0 at 0."""
    return _safely(squares, lambda x: call("Sqrt", x))


def _safe_power(x: Tensor, exponent: float) -> Tensor:
    return _safely(x, lambda x: call("Pow", x, scalar(x, exponent)))


def _safely(x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """A function that is 0 at 0, with gradient 0 there; NaN stays."""
    some = call("NotEqual", x, scalar(x, 0))
    found = function(call("SelectV2", some, x, scalar(x, 1)))
    return call("SelectV2", some, found, scalar(x, 0))


@lower("cumsum", "cumprod")
def cumulative(site: Site, self: Tensor, dim: int, dtype: ElementType | None = None) -> Tensor:
    if rank(self) == 0:
        return to_result(site, self)
    type = "Cumsum" if "cumsum" in site.node.op else "Cumprod"
    return call(type, to_result(site, self), np.int32(dim % rank(self)))


@lower("logcumsumexp")
def logcumsumexp(site: Site, self: Tensor, dim: int) -> Tensor:
    return call("CumulativeLogsumexp", self, np.int32(dim % rank(self)))


@lower("count_nonzero")
def count_nonzero(site: Site, self: Tensor, dim: Dims = None) -> Tensor:
    return reduced("Sum", cast(cast(self, DType.BOOL), DType.INT64), dim, False)


@lower("cosine_similarity")
def cosine_similarity(
    site: Site, x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8
) -> Tensor:
    product_ = reduced("Sum", call("Mul", x1, x2), dim, False)
    lengths = [
        call("Maximum", safe_root(reduced("Sum", call("Square", x), dim, False)), scalar(x, eps))
        for x in (x1, x2)
    ]
    return call("RealDiv", product_, call("Mul", *lengths))


@lower("trace")
def trace(site: Site, self: Tensor) -> Tensor:
    rows, columns = size_at(self, 0), size_at(self, 1)
    flat = np.arange(min(rows, columns), dtype=np.int32) * (columns + 1)
    picked = call("GatherV2", reshape(self, [-1]), flat, np.int32(0))
    return reduced("Sum", picked, None, False)
