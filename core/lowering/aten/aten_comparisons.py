"""Comparisons, logic and choice of PyTorch; nothing but the choice has a gradient."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_table import lower_as_given
from gradstep.core.lowering.aten.aten_tensors import as_operands, cast, promoted, scalar
from gradstep.core.lowering.lowering_table import Build, Site
from gradstep.core.ops.build.builder import Tensor, call

_COMPARE = {
    "eq": "Equal",
    "ne": "NotEqual",
    "gt": "Greater",
    "ge": "GreaterEqual",
    "lt": "Less",
    "le": "LessEqual",
}
_LOGIC = {
    "and": ("LogicalAnd", "BitwiseAnd"),
    "or": ("LogicalOr", "BitwiseOr"),
    "xor": ("NotEqual", "BitwiseXor"),
}


def _compare(type: str) -> Build:
    def build(site: Site, self: Any, other: Any) -> Tensor:
        dtype = promoted(self, other)
        kind = DType.INT32 if dtype is DType.BOOL and type not in ("Equal", "NotEqual") else dtype
        a, b = as_operands(kind, *as_operands(dtype, self, other))
        return call(type, a, b)

    return build


for _name, _type in _COMPARE.items():
    lower_as_given(_name)(_compare(_type))


def _logical(type: str) -> Build:
    def build(site: Site, self: Tensor, other: Tensor) -> Tensor:
        return call(type, cast(self, DType.BOOL), cast(other, DType.BOOL))

    return build


def _bitwise(logical: str, bitwise: str) -> Build:
    def build(site: Site, self: Any, other: Any) -> Tensor:
        dtype = promoted(self, other)
        a, b = as_operands(dtype, self, other)
        return call(logical if dtype is DType.BOOL else bitwise, a, b)

    return build


for _name, (_bools, _bits) in _LOGIC.items():
    lower_as_given(f"logical_{_name}")(_logical(_bools))
    lower_as_given(f"bitwise_{_name}", f"__{_name}__")(_bitwise(_bools, _bits))


@lower_as_given("isnan")
def isnan(site: Site, self: Tensor) -> Tensor:
    return call("IsNan", self)


@lower_as_given("isinf")
def isinf(site: Site, self: Tensor) -> Tensor:
    return call("IsInf", self)


@lower_as_given("isfinite")
def isfinite(site: Site, self: Tensor) -> Tensor:
    return call("IsFinite", self)


@lower_as_given("where")
def where(site: Site, condition: Tensor, self: Any = None, other: Any = None) -> Tensor:
    dtype = site.dtype()
    return call("SelectV2", cast(condition, DType.BOOL), *as_operands(dtype, self, other))


@lower_as_given("masked_fill")
def masked_fill(site: Site, self: Tensor, mask: Tensor, value: Any) -> Tensor:
    filling = cast(value, self.dtype) if isinstance(value, Tensor) else scalar(self, value)
    return call("SelectV2", mask, filling, self)


@lower_as_given("fill")
def fill(site: Site, self: Tensor, value: Any) -> Tensor:
    filling = cast(value, self.dtype) if isinstance(value, Tensor) else scalar(self, value)
    return call(
        "SelectV2", call("OnesLike", cast(call("StopGradient", self), DType.BOOL)), filling, self
    )
