"""bfloat16 beside a device that has none: such an operation's kernel runs on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.bfloat16_kernels import any_bfloat16, names_bfloat16
from gradstep.core.engine.device_transfer import kept
from gradstep.core.graph.model import Operation

Kernel = Callable[..., Any]


def kernel_beside(backend: Backend, op: Operation, kernel: Kernel, on_host: Kernel) -> Kernel:
    """The kernel of `op` on the device; that on the host where there is bfloat16, which stays there
    (`Backend.put` leaves it), while other results go to the device."""
    named = names_bfloat16(op)

    def beside(*inputs: Any) -> Any:
        if not named and not any_bfloat16(inputs):
            return kernel(*inputs)
        results = on_host(*(x if x is None else kept(x, backend.get) for x in inputs))
        if not isinstance(results, tuple | list):
            return kept(results, put)
        return tuple(kept(x, put) for x in results)

    def put(result: Any) -> Any:
        return backend.put(np.asarray(result))

    return beside
