"""Steps and values that a pass adds to a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import PlanValue, Step
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.ops.declare.table import lookup


class Additions:
    """Collects them; `made` is the plan with them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._values = list(plan.values)
        self._before: dict[int, list[Step]] = {}

    def add(
        self,
        at: int,
        type: str,
        reads: Sequence[int],
        *,
        kind: TensorType | None = None,
        writes: Sequence[int] = (),
        also: Sequence[str] = (),
        attrs: Mapping[str, Any] | None = None,
    ) -> int:
        """A step before step `at`, that belongs to the same operation. It makes a new value of
        that `kind`, or `writes`. Gives the first value."""
        near = self._plan.steps[at].op
        steps = self._before.setdefault(at, [])
        value = writes[0] if kind is None else len(self._values)
        op = Operation(
            f"{near.name}/together/{type}_{value}",
            type,
            tuple(self._ref(v) for v in reads),
            attrs=attrs or {},
            origin=near.origin,
            phase=near.phase,
        )
        if kind is not None:
            self._values.append(PlanValue(kind, op.name, 0))
            writes = (value,)
        definition, also = lookup(type), tuple(also)
        steps.append(
            Step(op, definition, tuple(reads), tuple(writes), computes=True, plain=True, also=also)
        )
        return value

    def constant(self, at: int, array: np.ndarray) -> int:
        """A value that is the same in every run."""
        kind = TensorType(DType.of(array.dtype), Shape(array.shape))
        attrs = {"value": Constant(array), "dtype": kind.dtype}
        return self.add(at, "Const", (), kind=kind, attrs=attrs)

    def kind(self, value: int) -> TensorType:
        return self._values[value].type

    def made(self, without: Collection[Step]) -> Plan:
        """The plan with these steps, and without those."""
        steps: list[Step] = []
        for index, step in enumerate(self._plan.steps):
            steps.extend(self._before.get(index, ()))
            if step not in without:
                steps.append(step)
        return replace(self._plan, steps=tuple(steps), values=tuple(self._values))

    def _ref(self, value: int) -> TensorRef:
        found = self._values[value]
        return found.ref or TensorRef(found.variable)
