"""What is left of a graph with cycles: all that needs none of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.model import Graph, Operation, TensorRef, predecessors
from gradstep.core.program.acyclic_part import without_cycles


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any wires and control dependencies among up to eight operations, to themselves, too."""
    names = [f"n{i}" for i in range(draw(st.integers(1, 8)))]
    some = st.lists(st.sampled_from(names), max_size=2)
    return Graph.of(
        Operation(n, "AddN", tuple(map(TensorRef, draw(some))), tuple(draw(some))) for n in names
    )


def leads_back(graph: Graph, name: str) -> bool:
    before = {other for p in predecessors(graph[name]) for other in graph.ancestors([p])}
    return name in before


@given(graphs())
def test_no_operation_on_a_cycle_or_after_one_is_left(graph: Graph) -> None:
    on_cycles = {name for name in graph.operations if leads_back(graph, name)}
    left = [n for n in graph.operations if on_cycles.isdisjoint(graph.ancestors([n]))]
    assert [*without_cycles(graph).operations] == left
