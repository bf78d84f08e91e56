"""The backend protocol: what the engine asks of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.declare.table import OpDef


class Backend(Protocol):
    """An array library on a device, and the rules it runs under.

    name:     as users write it ("cpu", "gpu:native", "emulate:tf-gpu").
    xp:       the array namespace (numpy, cupy).
    measured: whether results come from the device itself; false for an imitation.
    source:   who says that the device behaves so.
    """

    @property
    def name(self) -> str: ...
    @property
    def xp(self) -> Any: ...
    @property
    def rules(self) -> Rules: ...
    @property
    def measured(self) -> bool: ...
    @property
    def source(self) -> str: ...

    def put(self, array: np.ndarray) -> Any:
        """A copy of a host array on the device."""

    def get(self, array: Any) -> np.ndarray:
        """A copy of a device array on the host."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        """New uninitialised memory, aligned to 64 bytes at least."""

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        """`kernel`, a function of input arrays, as this device computes `op`: `kernel` itself,
        unless the backend imitates another device's arithmetic."""

    def sync(self) -> None:
        """Wait until all work given to the device is done."""

    def memory(self) -> int:
        """Bytes in use on the device, as far as the library knows; 0 when it does not."""
