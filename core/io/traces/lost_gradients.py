"""The weights behind operations that were not lowered: their gradient here is not what it was."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.lowering.foreign_graph import ForeignGraph, ForeignNode, ForeignRef
from gradstep.core.lowering.lowered_graph import Lowered
from gradstep.core.lowering.lowering_table import element_type

_STOPS = frozenset({"StopGradient", "PreventGradient"})


def lost_gradients(
    graph: ForeignGraph, done: Lowered, loss: Sequence[TensorRef]
) -> dict[str, list[ForeignNode]]:
    """Variable -> the operations that were not lowered, and through which a part of the gradient
    of `loss` came back to it where it was recorded. Where that is not known of an operation, each
    counts from which a path of numbers leads to `loss`. Work is done only where there are some."""
    nodes = [node for node in graph.nodes if node.name in done.unlowered]
    return {} if not nodes or not loss else _Paths(graph, done).variables(nodes, loss)


@dataclass(frozen=True, slots=True)
class _Known:
    """Of a tensor of ours, what its framework said of it."""

    is_number: bool
    came_back: bool | None  # whether there was a gradient other than 0; None where that is not said


class _Paths:
    def __init__(self, graph: ForeignGraph, done: Lowered) -> None:
        self._done = done
        self._known = dict(_known(graph, done))
        # Nodes before a function with a backward of its own have none, whatever came back.
        told = any(t.gradient is not None for node in graph.nodes for t in node.outputs)
        self._is_told = told and not graph.functions
        weights = [one for one in graph.inputs if one.trained and one.name in done.variables]
        none_told = all(one.tensor.gradient is None for one in weights)
        self._trained = [  # but for those that nothing came back to
            done.variables[one.name]
            for one in weights
            if none_told or (one.tensor.gradient is not None and one.tensor.gradient.any())
        ]

    def variables(
        self, nodes: Sequence[ForeignNode], loss: Sequence[TensorRef]
    ) -> dict[str, list[ForeignNode]]:
        before = self._behind({ref.op: {0} for ref in loss}).keys()
        starts: dict[str, set[int]] = {}
        for number, node in enumerate(nodes):
            outputs = self._outputs(node)
            if any(self._came_back(ref, before) for ref in outputs):
                for ref in outputs:
                    starts.setdefault(ref.op, set()).add(number)
        behind = self._behind(starts)
        through = {name: sorted(behind[name]) for name in self._trained if name in behind}
        return {name: [nodes[number] for number in numbers] for name, numbers in through.items()}

    def _outputs(self, node: ForeignNode) -> list[TensorRef]:
        refs = (ForeignRef(node.name, number) for number, _ in enumerate(node.outputs))
        return [self._done.tensors[ref] for ref in refs if ref in self._done.tensors]

    def _came_back(self, ref: TensorRef, before: Collection[str]) -> bool:
        known = self._known.get(ref)
        if known is not None and known.came_back is not None:
            return known.came_back
        is_number = known is None or known.is_number
        return not self._is_told and is_number and ref.op in before

    def _behind(self, starts: Mapping[str, set[int]]) -> dict[str, set[int]]:
        """The operations to which a gradient may come back through numbers, and from which of the
        `starts`: these by their operations. All in one pass."""
        found = {name: {*numbers} for name, numbers in starts.items()}
        graph = self._done.graph
        for name in reversed(graph.order):
            op = graph[name]
            if name in found and op.type not in _STOPS:
                for ref in op.inputs:
                    if ref is not None and self._may_pass(ref):
                        found.setdefault(ref.op, set()).update(found[name])
        return found

    def _may_pass(self, ref: TensorRef) -> bool:
        known = self._known.get(ref)
        if known is None:
            return True
        return known.is_number and known.came_back is not False


def _known(graph: ForeignGraph, done: Lowered) -> Iterator[tuple[TensorRef, _Known]]:
    for node in graph.all_nodes():
        for number, told in enumerate(node.outputs):
            ref = done.tensors.get(ForeignRef(node.name, number))
            if ref is not None:
                kind = kind_of(element_type(told.dtype).numpy) if told.dtype else "f"
                back = None if told.gradient is None else bool(told.gradient.any())
                yield ref, _Known(kind in "fc", back)


def in_words(nodes: Sequence[ForeignNode], framework: str) -> str:
    """What is said at a weight. framework: as people call it."""
    by_type: dict[str, list[str]] = {}
    for node in nodes:
        by_type.setdefault(node.op, []).append(node.name)
    through = ", ".join(f"{called(names)} ({op})" for op, names in by_type.items())
    return (
        f"its gradient lacks what came back through {through} in {framework}: "
        "there is no gradient of that here"
    )


def called(names: Sequence[str]) -> str:
    """Operations of one type: the first by name, the others as a number."""
    first, *others = names
    return first if not others else f"{first} and {len(others)} more"


def by_reason(graph: ForeignGraph, unlowered: Mapping[str, str]) -> Iterator[tuple[list[str], str]]:
    """The operations of each type that were not lowered, in their order, and why."""
    names: dict[str, list[str]] = {}
    types = {node.name: node.op for node in graph.nodes}
    for name in unlowered:
        names.setdefault(types[name], []).append(name)
    for found in names.values():
        yield found, "; ".join(dict.fromkeys(unlowered[name] for name in found))
