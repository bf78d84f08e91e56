"""Pruning: what must run for the fetches and targets; nothing else does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import compress
from operator import is_not

from gradstep.core.graph.model import Graph, Operation, TensorRef


class Needed:
    """How many times each operation is asked for: by those that are needed themselves, and as what
    is wanted in the end. What nobody asks for does not run.

    A feed cuts the wires that carry it, but no control dependency; a fed placeholder is replaced
    by its feed, control dependencies included. wanted: operations, each as often as it is asked
    for.
    """

    def __init__(self, graph: Graph, fed: Collection[TensorRef], wanted: Iterable[str]) -> None:
        self._graph = graph
        self._fed = fed
        self._cut = {ref.op for ref in fed}
        self._wanted = [name for name in wanted if not self._is_replaced(name)]
        self.counts: dict[str, int] = {}
        self._ask(self._wanted)

    @cached_property
    def missing(self) -> set[str]:
        """Names that are asked for, but are not in the graph: their readers fail."""
        return self.counts.keys() - self._graph.operations.keys()

    @property
    def operations(self) -> list[Operation]:
        """What must run, in order."""
        names = filter(self.counts.__contains__, self._graph.order)
        return [*map(self._graph.operations.__getitem__, names)]

    def after(self, graph: Graph, wanted: Iterable[str]) -> Needed:
        """The same for an edited graph: only what has changed is looked at."""
        old, new = self._graph.operations, graph.operations
        if any(old.get(name) is not new.get(name) for name in self._cut):
            return Needed(graph, self._fed, wanted)  # other wires may be cut
        counts = self.counts
        other_now = map(is_not, map(old.get, counts), map(new.get, counts))
        changed = [*compress(counts, other_now)]
        other = Needed(graph, self._fed, ())
        other.counts = self.counts.copy()
        other._wanted = [name for name in wanted if not self._is_replaced(name)]
        same = other._wanted == self._wanted
        wanted_then, wanted_now = ([], []) if same else (self._wanted, other._wanted)
        for name in changed:
            other._ask(other.asked_by(name))
        other._ask(wanted_now)
        for name in changed:
            other._drop(self.asked_by(name))
        other._drop(wanted_then)
        return other

    def asked_by(self, name: str) -> Iterator[str]:
        """What operation `name` asks for: what has to run before it does."""
        op = self._graph.operations.get(name)
        if op is None:
            return
        for ref in op.inputs:
            if ref is not None and (ref.op not in self._cut or not self._is_cut(ref)):
                yield ref.op
        for other in op.control_inputs:
            if not self._is_replaced(other):
                yield other

    def _is_cut(self, ref: TensorRef) -> bool:
        return ref in self._fed or self._is_replaced(ref.op)

    def _is_replaced(self, name: str) -> bool:
        op = self._graph.operations.get(name) if name in self._cut else None
        return op is not None and op.type == "Placeholder" and op.output() in self._fed

    def _ask(self, names: Iterable[str]) -> None:
        counts, stack = self.counts, [*names]
        while stack:
            name = stack.pop()
            count = counts.get(name, 0)
            counts[name] = count + 1
            if not count:
                stack.extend(self.asked_by(name))

    def _drop(self, names: Iterable[str]) -> None:
        counts, stack = self.counts, [*names]
        while stack:
            name = stack.pop()
            counts[name] -= 1
            if not counts[name]:
                del counts[name]
                stack.extend(self.asked_by(name))
