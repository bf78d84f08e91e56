"""PyTorch as a backend: its tensors under kernels, on the processor or what else it computes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.host_arrays import home
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.declare.table import OpDef
from gradstep.gpu.torch_device.namespace import TorchNamespace
from gradstep.gpu.torch_device.torch_array import TorchArray


class TorchBackend:
    """Runs kernels on a device of PyTorch's. Text stays on the host.

    kind: PyTorch's name of the device ("cpu", "mps", "xpu", "cuda"); name: ours, with "torch:"
    before it; device: what the machine calls it, said with every result.
    """

    measured = True

    def __init__(self, rules: Rules, name: str, kind: str, device: str) -> None:
        self.xp: Any = TorchNamespace(kind)
        self.rules = rules
        self.name = name
        self.source = f"measured on {device}"
        self._kind = kind

    def put(self, array: np.ndarray) -> Any:
        return np.array(array) if home(self.xp, array) is np else self.xp.asarray(array)

    def get(self, array: Any) -> np.ndarray:
        if not isinstance(array, TorchArray):
            return np.array(array)
        return array.get()

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return self.xp.empty(shape, dtype)

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        return kernel  # the device rounds for itself

    def sync(self) -> None:
        """Wait for the device; errors of earlier kernels surface here."""
        if self._kind != "cpu":
            getattr(torch, self._kind).synchronize()

    def memory(self) -> int:
        """Bytes in use on the device by this process's tensors, where PyTorch counts them."""
        if self._kind == "mps":
            return int(torch.mps.current_allocated_memory())
        of = getattr(torch, self._kind, None)
        return int(of.memory_allocated()) if self._kind in ("cuda", "xpu") and of else 0


def open_torch(rules: Rules, name: str, kind: str, device: str) -> TorchBackend:
    """The backend, with what it says of itself."""
    return TorchBackend(rules, name, kind, f"PyTorch {torch.__version__} on {device}")
