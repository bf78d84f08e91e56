"""How large the sums are that a recorded gradient is: what rounding in them is measured by.

The gradient of a bias before batch normalization is 0, and what comes of it is rounding: next to
itself it is all error, next to the gradients that it is the sum of it is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of

ROUNDING = 1e-2  # of that scale, an error of so many parts counts as one of a number itself
_NOTHING = 1e-3  # of what a sum is made of: below, it is rounding itself
_OUTPUTS = 64  # of an operation, that are looked for


class GradientScales:
    """Of a forward graph, and what was recorded of it."""

    def __init__(self, graph: Graph, recorded: RecordedRun) -> None:
        self._recorded = recorded
        self._sizes: dict[str, float] = {}  # of the gradients around each tensor's, the largest
        known = [TensorRef.parse(name) for name in recorded.gradients]
        there = [ref for ref in known if ref.op in graph]
        for ref in sorted(there, key=lambda ref: -graph.places[ref.op]):
            after = next_recorded(graph, recorded, ref)
            self._sizes[str(ref)] = max(map(self._size, after), default=0.0)

    def of(self, ref: TensorRef) -> float:
        """What an error of the gradient of `ref` may be measured by, whatever the gradient is: the
        largest sum of absolute values that it is made of, for each of its elements; 0 where none
        is known."""
        own = self._recorded.gradients.get(str(ref))
        elements = 1 if own is None else max(own.array.size, 1)
        return ROUNDING * self._sizes.get(str(ref), 0.0) / elements

    def _size(self, name: str) -> float:
        """The sum of a gradient's absolute values; of one that is nothing but rounding, that of
        those around it."""
        own, around = _total(self._recorded, name), self._sizes.get(name, 0.0)
        return own if own > _NOTHING * around else around


def _total(recorded: RecordedRun, name: str) -> float:
    array = recorded.gradients[name].array
    if kind_of(array.dtype) not in "fc":
        return 0.0
    return float(np.abs(array[np.isfinite(array)]).astype(np.float64).sum())


def next_recorded(graph: Graph, recorded: RecordedRun, ref: TensorRef) -> Iterator[str]:
    """The tensors after it that have a recorded gradient, on each path the first."""
    seen, waiting = {ref.op}, [ref.op]
    while waiting:
        for edge in graph.consumers.get(waiting.pop(), ()):
            if edge.op in seen:
                continue
            seen.add(edge.op)
            names = [str(TensorRef(edge.op, i)) for i in range(_OUTPUTS)]
            found = [name for name in names if name in recorded.gradients]
            if found:
                yield from found
            else:
                waiting.append(edge.op)
