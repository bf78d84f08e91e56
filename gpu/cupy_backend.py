"""The GPU as a backend: CuPy arrays, TensorFlow's rules for a GPU unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.ops.declare.host_arrays import home
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.declare.table import OpDef
from gradstep.gpu.fusion.cupy_namespace import with_fused


class CupyBackend:
    """Runs kernels on the current CUDA device. CuPy is imported here, and by the probe's child
    process, and nowhere else. Text and bfloat16 stay on the host: no CuPy array holds them.

    name: "gpu" or "gpu:native"; device: the card's name, said with every result; namespace: the
    array module, cupy by default.
    """

    measured = True

    def __init__(self, rules: Rules, name: str, device: str, namespace: Any = None) -> None:
        self.xp: Any = with_fused(namespace if namespace is not None else _cupy())
        self.rules = rules
        self.name = name
        self.source = f"measured on {device}"

    def put(self, array: np.ndarray) -> Any:
        return np.array(array) if home(self.xp, array) is np else self.xp.asarray(array)

    def get(self, array: Any) -> np.ndarray:
        if isinstance(array, np.ndarray):
            return np.array(array)
        return np.asarray(self.xp.asnumpy(array))

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        if dtype == BFLOAT16:
            return np.empty(shape, dtype)
        return self.xp.empty(shape, dtype)  # the memory pool aligns to 512 bytes

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        return kernel  # the card rounds for itself

    def sync(self) -> None:
        """Wait for the device; errors of earlier kernels surface here."""
        self.xp.cuda.get_current_stream().synchronize()

    def memory(self) -> int:
        """Bytes in use on the device by this process's arrays."""
        return int(self.xp.get_default_memory_pool().used_bytes())


def _cupy() -> Any:
    import cupy

    return cupy
