"""PyTorch's operations that make tensors of nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower_as_given
from gradstep.core.lowering.aten.aten_tensors import as_operands, cast
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_LOOK = ("size", "self", "dtype", "memory_format", "n", "m")


@lower_as_given(
    "zeros",
    "zeros_like",
    "new_zeros",
    "empty",
    "empty_like",
    "new_empty",
    "empty_strided",
    "new_empty_strided",
    "ones",
    "ones_like",
    "new_ones",
    ignores=(*_LOOK, "stride"),
)
def filled(site: Site) -> Tensor:
    value = float("ones" in site.node.op)
    return site.constant(np.full(site.sizes(), value, site.dtype().numpy))


@lower_as_given("full", "full_like", "new_full", "scalar_tensor", ignores=_LOOK)
def full(site: Site, fill_value: Any = None, s: Any = None) -> Tensor:
    value = fill_value if fill_value is not None else s
    if isinstance(value, Tensor):
        filling = cast(value, site.dtype())
        return call("Fill", np.array(site.sizes(), np.int32), filling)
    return site.constant(np.full(site.sizes(), value, site.dtype().numpy))


@lower_as_given("arange", "range", ignores=("dtype",))
def arange(site: Site, end: Any = None, start: Any = 0, step: Any = 1) -> Tensor:
    dtype = site.dtype().numpy
    if any(isinstance(x, Tensor) for x in (start, end, step)):
        if "range" in site.node.op.split(".")[1:2]:
            raise UnloweredError("range with computed ends")  # which has its end in it
        ends = as_operands(site.dtype(), start, end, step)
        return call("Range", *ends)
    return site.constant((start + step * np.arange(site.sizes()[0])).astype(dtype))


@lower_as_given("linspace", ignores=("dtype",))
def linspace(site: Site, start: float, end: float, steps: int) -> Tensor:
    return site.constant(np.linspace(start, end, steps).astype(site.dtype().numpy))


@lower_as_given("eye", "tril_indices", "triu_indices", ignores=(*_LOOK, "row", "col", "offset"))
def recorded_table(site: Site) -> Tensor:
    """Of numbers alone, so what came is what always comes."""
    return site.constant(site.recorded())
