"""NumPy beside a device: where steps do their work whose values lie on the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import as_tuple
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import OpDef


@dataclass(frozen=True)
class HostSide(NumpyBackend):
    """device: that whose rules it follows, and from which it brings home what is found there."""

    device: Backend | None = None

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        if definition.is_pure or self.device is None:
            return kernel
        return partial(_brought_home, self.device, kernel)


def host_side(device: Backend) -> HostSide:
    return HostSide(device.rules, device.name, device)


def _brought_home(device: Backend, kernel: Callable[..., Any], *inputs: Any) -> tuple[Any, ...]:
    results = as_tuple(kernel(*inputs))
    return tuple(x if isinstance(x, np.ndarray | np.generic) else device.get(x) for x in results)
