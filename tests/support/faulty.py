"""A backend that is right but for chosen operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import OpDef

Fault = Callable[[np.ndarray], np.ndarray]


class FaultyBackend(NumpyBackend):
    """NumPy, with the results of some op types changed: op type -> what becomes of each output."""

    def __init__(self, faults: Mapping[str, Fault], rules: Rules = TF_CPU) -> None:
        super().__init__(rules, "faulty")
        object.__setattr__(self, "faults", dict(faults))

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        fault = self.faults.get(definition.type)  # type: ignore[attr-defined]
        if fault is None:
            return kernel

        def wrong(*inputs: Any) -> Any:
            result = kernel(*inputs)
            if isinstance(result, tuple):
                return tuple(fault(np.asarray(x)) for x in result)
            return fault(np.asarray(result))

        return wrong
