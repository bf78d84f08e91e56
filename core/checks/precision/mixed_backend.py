"""A NumPy backend that computes some operations in another number format."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from gradstep.core.checks.precision.number_formats import NumberFormat
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.declare.table import OpDef

Kernel = Callable[..., Any]


class MixedBackend(NumpyBackend):
    """chosen: names of the operations that are computed in `format`, those inside of loops by their
    own; others are in float32."""

    def __init__(self, format_: NumberFormat, chosen: Collection[str]) -> None:
        super().__init__(TF_CPU, f"emulate:{format_.name}")
        object.__setattr__(self, "_format", format_)
        object.__setattr__(self, "_chosen", chosen)

    def adapt(self, definition: OpDef, kernel: Kernel, op: Operation) -> Kernel:
        if op.name not in self._chosen:  # type: ignore[attr-defined]
            return kernel
        return computed_in(self._format, definition, kernel)  # type: ignore[attr-defined]


def computed_in(format_: NumberFormat, definition: OpDef, kernel: Kernel) -> Kernel:
    """`kernel`, on operands and with results of that format."""
    if definition.arithmetic not in format_.kinds:
        return kernel

    def computed(*inputs: Any) -> Any:
        result = kernel(*map(format_.taken, inputs))
        if isinstance(result, tuple | list):
            return tuple(map(format_.given, result))
        return format_.given(result)

    return computed
