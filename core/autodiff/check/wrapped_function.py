"""What an IdentityN of tf.custom_gradient wraps: a function, whose gradient is the one it has.

Its inputs are what the function gives, and then what it takes; its gradient goes by the latter
alone. So it is a gradient of the function, and not of the IdentityN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef

_PREFIX = "check/"


@dataclass(frozen=True)
class WrappedFunction:
    """results: how many inputs are what the function gives; body: the operations that make them of
    the others, in order, with constants; None where they read something else, too."""

    results: int
    body: Sequence[Operation] | None

    def between(self, op: Operation, holes: Sequence[TensorRef]) -> list[Operation]:
        """`op`, and the function before it, where `holes` are its arguments."""
        assert self.body is not None
        given = dict(zip(op.inputs[self.results :], holes[self.results :], strict=True))
        made = {each.name for each in self.body}

        def source(ref: TensorRef | None) -> TensorRef | None:
            if ref is None or ref in given:
                return None if ref is None else given[ref]
            return TensorRef(f"{_PREFIX}{ref.op}", ref.index) if ref.op in made else ref

        renamed = [
            replace(
                each,
                name=f"{_PREFIX}{each.name}",
                inputs=(*map(source, each.inputs),),
                control_inputs=(),
            )
            for each in self.body
        ]
        return [*renamed, replace(op, inputs=(*map(source, op.inputs),), control_inputs=())]


def find_wrapped(graph: Graph, derived: Differentiation, op: Operation) -> WrappedFunction | None:
    """None for an operation that wraps none."""
    if op.type != "IdentityN" or op.name not in derived.custom:
        return None
    reached = [i for i in range(len(op.inputs)) if Edge(op.name, i) in derived.edges]
    count = min(reached, default=0)
    if not count:
        return None
    return WrappedFunction(count, _body(graph, op, count))


def _body(graph: Graph, op: Operation, count: int) -> Sequence[Operation] | None:
    arguments = {*op.inputs[count:]}
    waiting, found = [ref for ref in op.inputs[:count] if ref not in arguments], set[str]()
    while waiting:
        ref = waiting.pop()
        if ref is None or ref.op in found:
            continue
        each = graph[ref.op]
        if (not each.inputs and each.type != "Const") or loop_of(each) is not None:
            return None
        found.add(each.name)
        waiting += [source for source in each.inputs if source not in arguments]
    return [graph[name] for name in graph.order if name in found]
