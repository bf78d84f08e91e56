"""CuPy as kernels are given it: functions of elements as one kernel, reductions that are shared."""

from __future__ import annotations

from typing import Any

from gradstep.gpu.fusion.fused_kernels import FusedKernels
from gradstep.gpu.fusion.reductions import reductions


class CupyNamespace:
    """Everything else is CuPy's own."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.fused = FusedKernels(module)
        vars(self).update(reductions(module))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        setattr(self, name, value)  # asked once
        return value


def with_fused(module: Any) -> Any:
    """`module` with that; as it is where it makes no kernels, as a stand-in."""
    return CupyNamespace(module) if hasattr(module, "ElementwiseKernel") else module
