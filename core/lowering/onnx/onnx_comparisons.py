"""Comparisons, logic and choice of ONNX; nothing but the choice has a gradient."""

from __future__ import annotations

from gradstep.core.lowering.lowering_table import Build, Site
from gradstep.core.lowering.onnx.onnx_operands import apply
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call

SAME = {
    "And": "LogicalAnd", "Or": "LogicalOr", "Xor": "NotEqual", "Equal": "Equal",
    "Greater": "Greater", "GreaterOrEqual": "GreaterEqual", "Less": "Less",
    "LessOrEqual": "LessEqual",
}  # fmt: skip


def _same(type: str) -> Build:
    def build(site: Site, a: Tensor, b: Tensor) -> Tensor:
        return apply(type, a, b)

    return build


for _name, _type in SAME.items():
    lower(_name)(_same(_type))


@lower("Where")
def where(site: Site, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return call("SelectV2", condition, a, b)
