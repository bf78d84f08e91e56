"""How one zero element of a step's result depends on the step's operands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from gradstep.core.checks.why.explanation_words import Index, broadcast_index
from gradstep.core.checks.why.operand_probes import others, without_zeros
from gradstep.core.checks.why.step_on_other_inputs import Again, by_place, on_host
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.number_kinds import kind_of, limits_of

Other = Callable[[np.ndarray], Iterator[np.ndarray]]


class Element:
    """Element `index` of result number `output` of a step that read `inputs`, and is zero.

    operands: those of its inputs that are numbers or flags, no shapes or axes; zeros: those of
    them that are, or have, a zero."""

    def __init__(
        self, again: Again, step: Step, inputs: Sequence[Any], output: int, index: Index
    ) -> None:
        self._again, self._step, self._output, self._index = again, step, output, index
        self._whole = inputs
        self._places = by_place(step)
        self._inputs = self._picked(inputs) if self._places else list(inputs)
        host = on_host(step.op)
        numbers = [k for k, x in enumerate(self._inputs) if _is_numbers(x)]
        self.operands = [k for k in numbers if k >= len(host) or not host[k]]
        self.zeros = [k for k in self.operands if not self._inputs[k].all()]

    def follows(self, operands: Collection[int], other: Other) -> bool:
        """Whether it is not zero any more where these operands, together, are others."""
        makers = [list(other(self._inputs[k])) for k in operands]
        return bool(makers) and any(
            self._result(dict(zip(operands, values, strict=True)))
            for values in zip(*makers, strict=False)
        )

    def undoes(self, operand: int, others: Sequence[int]) -> bool:
        """Whether this zero operand undoes one of `others` that is not zero: without it, the
        element would be zero where that is."""
        (healed, *_) = without_zeros(self._inputs[operand])
        for k in others:
            x = self._inputs[k]
            there = k != operand and x.any() and kind_of(x.dtype) in "fcb"
            if there and not self._result({operand: healed, k: np.zeros_like(x)}):
                return True
        return False

    def chooser(self) -> int | None:
        """The flag among its operands that chose a zero, where the other choice is none."""
        flags = [k for k in self.operands if kind_of(self._inputs[k].dtype) == "b"]
        if len(flags) == len(self.operands):
            return None
        return next((k for k in flags if self.follows([k], others)), None)

    def is_tiny(self) -> bool:
        """Whether it is zero only because its type has no number so small."""
        wide = [_widened(x) for x in self._inputs]
        results = self._again.run(self._step, wide)
        if results is None or kind_of(results[self._output].dtype) not in "fc":
            return False
        found = self._element(results)
        types = (x.dtype for x in self._inputs if _is_numbers(x) and kind_of(x.dtype) in "fc")
        type_ = next(types, None)
        return type_ is not None and bool(0 < abs(found) < limits_of(type_).tiny)

    def zero_of(self, operand: int) -> Index | None:
        """The first zero of an operand that it follows; of other operands the element at its
        place."""
        x = self._whole[operand]
        if self._places:
            return broadcast_index(x.shape, self._index)
        healed = next(without_zeros(x), None)
        if healed is None:
            return None
        group = np.argwhere(x == 0)
        while len(group) > 1:
            half = group[: len(group) // 2]
            tried = x.copy()
            tried[tuple(half.T)] = healed[tuple(half.T)]
            group = half if self._result({operand: tried}) else group[len(half) :]
        return tuple(int(i) for i in group[0])

    def _result(self, instead: dict[int, np.ndarray]) -> bool:
        """Whether it is not zero where operands are others."""
        inputs = [instead.get(k, x) for k, x in enumerate(self._inputs)]
        results = self._again.run(self._step, inputs)
        if results is None:
            return False
        return bool(self._element(results))

    def _element(self, results: Sequence[np.ndarray]) -> Any:
        result = results[self._output]
        return result.reshape(-1)[0] if self._places else result[self._index]

    def _picked(self, inputs: Sequence[Any]) -> list[Any]:
        found = []
        for x in inputs:
            there = broadcast_index(x.shape, self._index) if isinstance(x, np.ndarray) else None
            found.append(x if there is None else x[there].reshape(1))
        return found


def _is_numbers(x: Any) -> bool:
    return isinstance(x, np.ndarray) and kind_of(x.dtype) in "biufc" and x.size > 0


def _widened(x: Any) -> Any:
    """Numbers in double precision."""
    wide = {"f": np.float64, "c": np.complex128}
    return x.astype(wide[kind_of(x.dtype)]) if _is_numbers(x) and kind_of(x.dtype) in wide else x
