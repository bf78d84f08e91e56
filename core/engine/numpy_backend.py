"""NumPy on the host, under TensorFlow's CPU rules or another system's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import array_bytes
from gradstep.core.graph.model import Operation
from gradstep.core.graph.splat_array import element_of, is_splat, splat
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import OpDef

ALIGNMENT = 64  # bytes; ufuncs run up to 1.5x faster on aligned buffers
_ADDRESSES = sys.maxsize - ALIGNMENT


@dataclass(frozen=True)
class NumpyBackend:
    """See Backend. Under any rules but its own the results are an imitation of another system."""

    rules: Rules = TF_CPU
    name: str = "cpu"

    @property
    def xp(self) -> Any:
        return np

    @property
    def measured(self) -> bool:
        return not self.name.startswith("emulate:")

    @property
    def source(self) -> str:
        return self.rules.source

    def put(self, array: np.ndarray) -> Any:
        copy = self.empty(array.shape, array.dtype)
        copy[...] = array
        return copy

    def get(self, array: Any) -> np.ndarray:
        if is_splat(array):
            return splat(element_of(array).copy(), array.shape)
        return np.array(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        if dtype.hasobject:
            return np.empty(shape, dtype)
        try:
            size = array_bytes(shape, dtype.itemsize)
        except ValueError as error:
            raise MemoryError(str(error)) from None
        if size > _ADDRESSES:
            raise MemoryError(f"{size} bytes are more than there are addresses for")
        memory = np.empty(size + ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % ALIGNMENT
        return np.ndarray(shape, dtype, memory, start)  # in half the time of slices and views

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        return kernel

    def sync(self) -> None:
        return None

    def memory(self) -> int:
        return 0
