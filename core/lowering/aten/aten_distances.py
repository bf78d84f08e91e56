"""Distances of PyTorch: norms of differences, of pairs of rows and of all with all."""

from __future__ import annotations

from gradstep.core.lowering.aten.aten_reductions import norm
from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import add_axis, rank, scalar
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.ops.build.builder import Tensor, call


def distance(
    a: Tensor, b: Tensor, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Of rows along the last axis."""
    apart = call("Sub", a, b)
    return norm(call("AddV2", apart, scalar(apart, eps)), p, -1, keepdim)


@lower("pairwise_distance")
def pairwise_distance(
    site: Site, x1: Tensor, x2: Tensor, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    return distance(x1, x2, p, eps, keepdim)


@lower("cdist", ignores=("compute_mode",))
def cdist(site: Site, x1: Tensor, x2: Tensor, p: float = 2) -> Tensor:
    rows, columns = add_axis(x1, rank(x1) - 1), add_axis(x2, rank(x2) - 2)
    return norm(call("Sub", rows, columns), p, -1, False)
