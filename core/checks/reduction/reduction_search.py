"""The search for the smallest graph: one operation alone, then more of what is around it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.reduction.reduced_document import (
    ReducedGraph,
    float_inputs,
    of_gradient,
    of_value,
)
from gradstep.core.checks.reduction.reduction_symptom import Clues, Symptom
from gradstep.core.checks.reduction.smaller_tensors import with_smaller_tensors
from gradstep.core.checks.reduction.values_read import Iterations, ValuesRead
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import anywhere, loop_of, way_to
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.progress import tell_progress

Names = frozenset[str]
_ROUNDS = 200  # graphs that are tried while operations are left out


class Reduction:
    """Of what `symptom` is about. graph: what the document's values are computed by; clues: where
    to begin; of: what is computed in the end; wrt: of a gradient, what it is with respect to, None
    for whatever leads there; values: what was there in the run that shows it."""

    def __init__(
        self,
        document: Document,
        graph: Graph,
        symptom: Symptom,
        clues: Clues,
        of: TensorRef,
        wrt: TensorRef | None,
        values: ValuesRead,
    ) -> None:
        self._document, self._graph, self._clues = document, graph, clues
        self._of, self._wrt, self._values = of, wrt, values
        self.symptom, self._tried = symptom, 0

    def document(self) -> Document:
        """The smallest that was found. Raises GradstepError where none shows it, as where it
        hangs on what no numbers can stand for."""
        for symptom in self.symptom.ways():
            self.symptom = symptom
            for names, iterations in self._starts():
                small = self._shown(names, iterations)
                if small is not None:
                    if len(names) > 1:
                        small = self._with_fewer(names, iterations, small)
                    return with_smaller_tensors(small, self._shows)
        raise GradstepError(
            "no part of the graph shows it by itself",
            kind="UnimplementedError",
            hint="it may hang on state, on threads or on several iterations; save the document, "
            "which shows it as it is",
        )

    def _shows(self, document: Document) -> bool:
        check_cancelled()
        self._tried += 1
        text = f"Looking for the smallest, {len(document.graph)} operations"
        tell_progress(text, self._tried, max(self._tried, _ROUNDS))
        return self.symptom.shows_in(document)

    def _starts(self) -> Iterator[tuple[Names, Iterations]]:
        """Operations to begin with, few first: that where it began, with what is next to it on the
        way; all of the way; all that the end needs."""
        place = self._place()
        began = frozenset[str]()
        if place is not None:
            yield (began := self._from_floats_on(*place)), place[1]
            if place[1]:  # they are in a loop, and the path is not
                began = frozenset()
        path = [name for name in self._clues.path if name in self._graph]
        if place is not None and place[0] in path:
            at = path.index(place[0])
            for reach in (1, 2, 4):
                yield began.union(path[max(at - reach, 0) : at + reach + 1]), ()
        if path:
            yield began.union(path), ()
        yield frozenset(self._graph.ancestors([self._of.op])), ()

    def _from_floats_on(self, name: str, iterations: Iterations) -> Names:
        """The operation; of a gradient also those before it that give no floats, since with respect
        to what they give none can be asked for."""
        names, stack = {name}, [name] if self.symptom.is_gradient else []
        graph, leading = self._graph_around(iterations), None if iterations else self._leading
        while stack:
            op = graph[stack.pop()]
            for number, ref in enumerate(op.inputs):
                if ref is None or ref.op in names or not (leading is None or ref.op in leading):
                    continue
                array = self._values.read(op, number, iterations)
                if array is not None and not DType.of(array.dtype).is_differentiable:
                    names.add(ref.op)
                    stack.append(ref.op)
        return frozenset(names)

    def _place(self) -> tuple[str, Iterations] | None:
        """The operation where it began, and in which iteration of the loops around it; of one in a
        loop whose iteration nobody told, the loop."""
        name, told = self._clues.node, self._clues.told or ()
        if name is None:
            return None
        around = way_to(self._graph, name) or ()
        if not around:
            return (name, ()) if name in self._graph else None
        return (name, told) if len(told) == len(around) else (around[0].name, ())

    def _shown(self, names: Names, iterations: Iterations) -> Document | None:
        """A document of these operations that shows it."""
        return next(filter(self._shows, self._documents(names, iterations)), None)

    def _documents(self, names: Names, iterations: Iterations) -> Iterator[Document]:
        """With this, or that, as what is asked for."""
        graph = self._graph_around(iterations)
        try:
            read = partial(self._values.read, iterations=iterations)
            part = ReducedGraph(graph, names | self._clues.kept, read)
        except GradstepError:  # of something there is no number
            return
        for end in self._ends(graph, names):
            if not self.symptom.is_gradient:
                yield of_value(self._document, part, end)
                continue
            leading = None if iterations else self._leading
            asked = [*float_inputs(part, leading)] or [*float_inputs(part, None)]
            if asked:
                for cotangent in self._cotangents(end, iterations):
                    yield of_gradient(self._document, part, end, asked, cotangent)

    def _graph_around(self, iterations: Iterations) -> Graph:
        graph = self._graph
        for _, name in iterations:
            loop = loop_of(graph[name])
            assert loop is not None
            graph = loop.graph
        return graph

    @property
    def _leading(self) -> Collection[str] | None:
        """Operations that the gradient comes from; None for any."""
        if self._wrt is None:
            return self._clues.asked
        return {self._wrt.op, *self._graph.descendants(self._wrt.op)}

    def _ends(self, graph: Graph, names: Names) -> Sequence[TensorRef]:
        """What to look at: outputs that are read by none of these, the last first."""
        last = [name for name in reversed(graph.order) if name in names]
        if self._of.op in names:
            return [self._of]
        return [ref for name in last[:1] for ref in _outputs(graph, name)]

    def _cotangents(self, end: TensorRef, iterations: Iterations) -> list[np.ndarray | None]:
        """What to start a gradient with: what arrived there, or ones."""
        arrived = None if iterations else self._values.cotangent(end)
        return [None] if arrived is None else [arrived, None]

    def _with_fewer(self, names: Names, iterations: Iterations, small: Document) -> Document:
        """Leaves out operations, half of them at first, as long as the rest shows it: Zeller's
        ddmin."""
        parts, tried = 2, 0
        graph, kept = self._graph_around(iterations), self._clues.kept
        order = [name for name in graph.order if name in names and name not in kept]
        while len(order) > 1 and tried < _ROUNDS:
            size = -(-len(order) // parts)
            for start in range(0, len(order), size):
                tried += 1
                fewer = order[:start] + order[start + size :]
                found = self._shown(frozenset(fewer), iterations) if fewer else None
                if found is not None:
                    small, order, parts = found, fewer, max(parts - 1, 2)
                    break
            else:
                if size == 1:
                    break
                parts = min(2 * parts, len(order))
        return small


def _outputs(graph: Graph, name: str) -> list[TensorRef]:
    """Those that anybody reads, the first at least."""
    read = {ref for op in graph for ref in op.inputs if ref is not None and ref.op == name}
    return sorted(read, key=lambda ref: ref.index) or [anywhere(graph, name).output()]
