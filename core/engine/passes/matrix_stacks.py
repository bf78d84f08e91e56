"""Matrices one below the other: where they are the rows of a tensor already, that; else joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.engine.passes.plan_additions import Additions
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.graph.dtypes import Shape, TensorType

LARGEST = 1 << 24  # elements of matrices that are kept to be taken together


class Stacks:
    """Gives values that hold several matrices of one plan."""

    def __init__(self, plan: Plan, additions: Additions) -> None:
        self._plan = plan
        self._additions = additions
        self._found: dict[tuple[int, ...], int] = {}

    def of(self, matrices: Sequence[int]) -> int:
        """The value that holds these, in this order, made as soon as they are all there."""
        key = tuple(matrices)
        if key not in self._found:
            self._found[key] = self._made(key)
        return self._found[key]

    def order(self, matrices: Sequence[int]) -> Sequence[int]:
        """These matrices in the order in which there is a stack of them already, if there is."""
        wanted = sorted(matrices)
        return next((key for key in self._found if sorted(key) == wanted), matrices)

    def _made(self, matrices: tuple[int, ...]) -> int:
        at = max(self._plan.made_by[v] for v in matrices) + 1
        kinds = [self._additions.kind(v) for v in matrices]
        rows, width = sum(k.shape.static()[0] for k in kinds), kinds[0].shape.static()[1]
        kind = TensorType(kinds[0].dtype, Shape((rows, width)))
        whole = self._taken_from(matrices)
        if whole is not None:
            shape = self._additions.constant(at, np.array([rows, width], np.int32))
            return self._additions.add(at, "Reshape", (whole, shape), kind=kind)
        axis = self._additions.constant(at, np.array(0, np.int32))
        return self._additions.add(at, "ConcatV2", (*matrices, axis), kind=kind)

    def _taken_from(self, matrices: tuple[int, ...]) -> int | None:
        """The tensor whose rows are exactly these."""
        step = self._plan.maker(matrices[0])
        if step is None or step.writes != matrices:
            return None
        if step.op.type == "Unpack" and step.op.attrs.get("axis", 0) == 0:
            return step.reads[0]
        if step.op.type == "Split" and self._is_zero(step.reads[0]):
            return step.reads[1]
        return None

    def _is_zero(self, value: int) -> bool:
        array = self._plan.constant(value)
        return array is not None and not array.any()
