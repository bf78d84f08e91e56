"""One block of a graph without the names of its operations, to be held against others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

from gradstep.core.graph.foreign_origin import (
    FOREIGN_NAME,
    FOREIGN_OP,
    FOREIGN_SCOPE,
    SOURCE_LINE,
)
from gradstep.core.graph.loop import LOOP, Loop, loop_of
from gradstep.core.graph.model import Constant, Graph, Operation

# Attributes in which blocks that are alike may differ: names of their own, where they run, seeds,
# where they are from.
_OWN = frozenset(
    {"shared_name", "container", "frame_name", "_class", "_output_shapes", "seed", "seed2"}
    | {FOREIGN_NAME, FOREIGN_OP, FOREIGN_SCOPE, SOURCE_LINE}
)
_ROUNDS = 8  # of looking farther around each node, to tell it from others
_LARGEST = 500  # nodes, up to which those that cannot be told apart so are tried one for another


class BlockGraph:
    """A node for each operation, for each tensor from outside, and two for each wire, one at
    either end, so that edges need neither a direction nor a label."""

    def __init__(self, graph: Graph, scope: str, names: Sequence[str]) -> None:
        from networkx import Graph as Undirected

        self._nodes, inside = Undirected(), set(names)
        for name in names:
            op = graph[name]
            self._nodes.add_node(name, label=ascii(label_of(op)))  # is hashed as ASCII
            ends = [(r.op, r.index, i) for i, r in enumerate(op.inputs) if r is not None]
            ends += [(other, -1, -1) for other in op.control_inputs]
            for number, (source, output, index) in enumerate(ends):
                if source not in inside:
                    source, output = f"/{source}:{output}", 0
                    self._nodes.add_node(source, label="outside")
                leaves, enters = f"{name}<{number} leaves", f"{name}<{number} enters"
                self._nodes.add_node(leaves, label=f"leaves {output}")
                self._nodes.add_node(enters, label=f"enters {index}")
                self._nodes.add_edges_from([(source, leaves), (leaves, enters), (enters, name)])

    @cached_property
    def _colours(self) -> dict[str, str]:
        """Each node by what is around it (Weisfeiler and Lehman's refinement)."""
        from networkx import weisfeiler_lehman_subgraph_hashes

        found = weisfeiler_lehman_subgraph_hashes(
            self._nodes, node_attr="label", iterations=_ROUNDS
        )
        return {name: hashes[-1] for name, hashes in found.items()}

    @cached_property
    def fingerprint(self) -> Hashable:
        """The same for blocks that are alike, and for hardly any others."""
        return frozenset(Counter(self._colours.values()).items())

    def is_like(self, other: BlockGraph) -> bool:
        """Whether a block with the same fingerprint is isomorphic. Of a large one of whose nodes
        some look the same from where they stand, the fingerprint is taken for proof."""
        if len({*self._colours.values()}) == len(self._nodes):
            return self._wires == other._wires  # there is only one way to match them
        return len(self._nodes) > _LARGEST or self._matches(other)

    @cached_property
    def _wires(self) -> frozenset[frozenset[str]]:
        colours = self._colours
        return frozenset(frozenset((colours[a], colours[b])) for a, b in self._nodes.edges)

    def _matches(self, other: BlockGraph) -> bool:
        from networkx import set_node_attributes, vf2pp_is_isomorphic

        for block in (self, other):
            set_node_attributes(block._nodes, block._colours, "colour")
        return bool(vf2pp_is_isomorphic(self._nodes, other._nodes, node_label="colour"))


def label_of(op: Operation) -> Hashable:
    """What an operation is, wherever it stands."""
    loop = loop_of(op)
    attrs = {
        n: _known(x) for n, x in op.attrs.items() if n not in _OWN and not (loop and n == LOOP)
    }
    inside = () if loop is None else _numbered(loop)
    return op.type, tuple(sorted(attrs.items())), inside


def _numbered(loop: Loop) -> Hashable:
    """A loop's graph, with numbers for names."""
    numbers = {name: number for number, name in enumerate(loop.graph.operations)}
    ends = [(ref.op, ref.index) for ref in (loop.cond, *loop.results)]
    return (
        tuple(numbers[name] for name in loop.arguments),
        tuple((numbers[name], index) for name, index in ends),
        tuple(
            (
                label_of(op),
                tuple(ref and (numbers.get(ref.op), ref.index) for ref in op.inputs),
                tuple(numbers.get(name) for name in op.control_inputs),
            )
            for op in loop.graph
        ),
    )


def _known(value: Any) -> Hashable:
    """An attribute as it is compared: of a constant only what can be in it."""
    if isinstance(value, Constant):
        return value.array.dtype.str, value.array.shape
    return repr(value)
