"""Sizes and single numbers: what PyTorch reads of a tensor's shape, and Python computes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_table import PYTHON, lower_as_given
from gradstep.core.lowering.aten.aten_tensors import as_operands, cast, promoted
from gradstep.core.lowering.lowering_table import Build, Site
from gradstep.core.ops.build.builder import Tensor, call

_ARITHMETIC = {
    "add": "AddV2",
    "sub": "Sub",
    "mul": "Mul",
    "floordiv": "FloorDiv",
    "mod": "FloorMod",
    "truediv": "RealDiv",
    "eq": "Equal",
    "ne": "NotEqual",
    "lt": "Less",
    "le": "LessEqual",
    "gt": "Greater",
    "ge": "GreaterEqual",
}


@lower_as_given("sym_size")
def sym_size(site: Site, self: Tensor, dim: int) -> Tensor:
    sizes = call("Shape", self, out_type=DType.INT64)
    return sizes[dim]


@lower_as_given("sym_numel")
def sym_numel(site: Site, self: Tensor) -> Tensor:
    return call("Size", self, out_type=DType.INT64)


@lower_as_given("item", "_local_scalar_dense")
def item(site: Site, self: Tensor) -> Tensor:
    """A number of Python: no gradient flows back."""
    number = cast(call("StopGradient", self), site.dtype())
    return call("Reshape", number, np.zeros(0, np.int32))


def _arithmetic(type: str) -> Build:
    def build(site: Site, arg0: Any, arg1: Any) -> Tensor:
        dtype = DType.FLOAT64 if type == "RealDiv" else promoted(arg0, arg1)
        a, b = as_operands(dtype, arg0, arg1)
        return call(type, a if isinstance(a, Tensor) else site.constant(a), b)

    return build


for _name, _type in _ARITHMETIC.items():
    PYTHON.lower(_name)(_arithmetic(_type))
