"""Moving values between host and device, where a value may also be state that is no array."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.ops.declare.host_arrays import home
from gradstep.core.ops.state.loop_trace import Trace
from gradstep.core.ops.state.opaque_state import OpaqueState


def put(backend: Backend, value: np.ndarray | OpaqueState) -> Any:
    """A copy of an array on the device; state itself."""
    return value if isinstance(value, OpaqueState) else backend.put(value)


def get(backend: Backend, value: Any) -> np.ndarray:
    """A copy of a device array on the host; of state, what is said of it."""
    return value.said() if isinstance(value, OpaqueState) else backend.get(value)


def shown(value: Any) -> np.ndarray:
    """A host array; of state, what is said of it."""
    return value.said() if isinstance(value, OpaqueState) else value


def kept(value: Any, keep: Callable[[Any], Any]) -> Any:
    """What `keep` makes of an array, which may change where it is; state itself, which cannot."""
    return value if isinstance(value, OpaqueState) else keep(value)


def size_of(values: Iterable[Any]) -> int:
    """Bytes of arrays and of state; None is nothing. What loops keep of their iterations is counted
    where it is kept (gradstep.core.engine.loops.trace_budget)."""
    total = 0
    for x in values:  # nearly always a few arrays, in every iteration of a loop
        if type(x) is np.ndarray:
            total += x.nbytes
        elif x is not None and not isinstance(x, Trace):
            total += int(x.nbytes)
    return total


def copy_array(xp: Any, value: Any) -> Any:
    """A copy of an array where it is, on the device or, as text is, on the host; state itself."""
    return value if isinstance(value, OpaqueState) else home(xp, value).array(value)
