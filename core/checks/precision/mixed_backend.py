"""A NumPy backend that computes some operations in another number format."""

from __future__ import annotations

from collections.abc import Collection

from gradstep.core.checks.precision.number_formats import NumberFormat
from gradstep.core.engine.calls.changed_kernels import Kernel, with_inputs, with_results
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.declare.table import OpDef


class MixedBackend(NumpyBackend):
    """chosen: names of the operations that are computed in `format`, those inside of loops by their
    own; others are in float32."""

    def __init__(self, format_: NumberFormat, chosen: Collection[str]) -> None:
        super().__init__(TF_CPU, f"emulate:{format_.name}")
        object.__setattr__(self, "_format", format_)
        object.__setattr__(self, "_chosen", chosen)

    def adapt(self, definition: OpDef, kernel: Kernel, op: Operation) -> Kernel:
        format_: NumberFormat = self._format  # type: ignore[attr-defined]
        chosen: Collection[str] = self._chosen  # type: ignore[attr-defined]
        if op.name not in chosen or definition.arithmetic not in format_.kinds:
            return kernel
        return with_results(format_.given, with_inputs(format_.taken, kernel))
