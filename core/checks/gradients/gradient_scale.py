"""How large the sums are that a recorded gradient is: what rounding in them is measured by.

The gradient of a bias before batch normalization is 0, and what comes of it is rounding: next to
itself it is all error, next to the gradients that it is the sum of it is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.graph.model import Graph, TensorRef

ROUNDING = 1e-2  # of that scale, an error of so many parts counts as one of a number itself


def gradient_scale(graph: Graph, recorded: RecordedRun, ref: TensorRef) -> float:
    """Of the gradients around the one of `ref`, those that its sums are made of, the largest sum
    of absolute values for each of its elements; 0 where none is known."""
    own = recorded.gradients.get(str(ref))
    size = 1 if own is None else max(own.array.size, 1)
    sums = (_total(recorded, name) for name in next_recorded(graph, recorded, ref))
    return ROUNDING * max(sums, default=0.0) / size


def _total(recorded: RecordedRun, name: str) -> float:
    array = recorded.gradients[name].array
    if array.dtype.kind not in "fc":
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


_OUTPUTS = 64  # of an operation, that are looked for
