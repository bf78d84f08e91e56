"""Looking into the iterations of a loop that has run, for the operation that broke its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.autodiff.held import Evaluate, Point, alive
from core.errors import GradstepError
from core.graph.dtypes import DType
from core.graph.loop import Loop, loop_of
from core.graph.model import Graph, Operation, TensorRef
from core.ops.builder import GraphBuilder, Tensor
from core.ops.infer import declared
from core.ops.table import branch_of

_AT_ONCE = 64  # iterations


@dataclass(frozen=True)
class Broken:
    """The operation that made the first number that is not finite, and that output of it.
    iterations: in which of which loops, the outermost first; a loop on the way back begins with the
    last iteration of that on the way there."""

    op: Operation
    output: np.ndarray
    iterations: tuple[tuple[int, str], ...]


def first_broken(evaluate: Evaluate, graph: Graph, point: Point, name: str) -> Broken | None:
    """What in the loop that operation `name` runs makes numbers that are not finite from such as
    are; None where that cannot be told, as with conds in it, of which half is dead."""
    loop = loop_of(graph[name])
    assert loop is not None
    builder = GraphBuilder(graph)
    trace = builder.get(graph[name].output(len(loop.variables)))
    try:
        return _Search(evaluate, builder, point).run(trace, name, loop, ())
    except GradstepError:
        return None


class _Search:
    def __init__(self, evaluate: Evaluate, builder: GraphBuilder, point: Point) -> None:
        self._evaluate, self._builder, self._point = evaluate, builder, point

    def run(
        self, trace: Tensor, name: str, loop: Loop, around: tuple[tuple[int, str], ...]
    ) -> Broken | None:
        if any(branch_of(op.type) == "switch" and op.inputs[1] != loop.cond for op in loop.graph):
            return None
        number = self._first_iteration(trace, loop)
        if number is None:
            return None
        needed = loop.graph.ancestors([loop.cond.op, *(ref.op for ref in loop.results)])
        kinds = {ref: kind for ref, kind in _numbers(loop) if ref.op in needed}
        found = self._values(trace, kinds, [number])[number]
        here = (*around, (number, name))
        for inner in loop.graph.order:
            op = loop.graph[inner]
            bad = next((x for x in _outputs(found, inner) if not _is_finite(x)), None)
            inputs = (found.get(ref) for ref in op.inputs if ref is not None)
            if bad is None or not all(x is None or _is_finite(x) for x in inputs):
                continue
            if inner in loop.arguments:
                return None  # it came from outside
            return self._deeper(trace, op, here) or Broken(op, bad, here)
        return None

    def _deeper(
        self, trace: Tensor, op: Operation, here: tuple[tuple[int, str], ...]
    ) -> Broken | None:
        inner = loop_of(op)
        if inner is None:
            return None
        ref = op.output(len(inner.variables))
        number, _ = here[-1]
        return self.run(self._read(trace, ref, DType.VARIANT, number), op.name, inner, here)

    def _first_iteration(self, trace: Tensor, loop: Loop) -> int | None:
        """The first one that leaves a number that is not finite."""
        counted = self._builder.one("IterationCount", trace).ref
        graph = self._builder.build()
        count = int(alive(self._evaluate, graph, [counted], self._point)[counted])
        kinds = dict(_numbers(loop))
        results = {ref: kinds[ref] for ref in loop.results if ref in kinds}
        for start in range(0, count, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, count))
            found = self._values(trace, results, numbers)
            for number in numbers:
                if not all(map(_is_finite, found[number].values())):
                    return number
        return None

    def _values(
        self, trace: Tensor, kinds: Mapping[TensorRef, DType], numbers: Iterable[int]
    ) -> dict[int, dict[TensorRef, np.ndarray]]:
        """Iteration -> the tensors in it."""
        reads = {
            (number, ref): self._read(trace, ref, kind, number).ref
            for number in numbers
            for ref, kind in kinds.items()
        }
        values = alive(self._evaluate, self._builder.build(), [*reads.values()], self._point)
        found: dict[int, dict[TensorRef, np.ndarray]] = {number: {} for number in numbers}
        for (number, ref), read in reads.items():
            found[number][ref] = values[read]
        return found

    def _read(self, trace: Tensor, ref: TensorRef, kind: DType, number: int) -> Tensor:
        at = np.array(number, np.int32)
        return self._builder.one("IterationValue", trace, at, tensor=str(ref), dtype=kind)


def _numbers(loop: Loop) -> Iterator[tuple[TensorRef, DType]]:
    """Tensors of an iteration that may be NaN."""
    for ref, kind in declared(loop.graph).types.items():
        if kind.dtype.is_floating or kind.dtype.is_complex:
            yield ref, kind.dtype


def _outputs(found: Mapping[TensorRef, np.ndarray], name: str) -> list[np.ndarray]:
    return [array for ref, array in found.items() if ref.op == name]


def _is_finite(array: np.ndarray) -> bool:
    return bool(np.isfinite(array).all())
