"""Whether a plan's steps are of the types that those before an edit were, however it was made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.host.session_restore import _have_same_types
from gradstep.core.ops.build.builder import GraphBuilder

TYPES = ("Neg", "Exp", "Identity")
ROWS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(TYPES)), min_size=1)


def _drawn(rows: list[tuple[str, str]]) -> Graph:
    """One operation of each row, in their order, which reads a placeholder."""
    build = GraphBuilder()
    build.placeholder("x", shape=[2])
    ops = [Operation(name, type, (TensorRef("x"),)) for name, type in dict(rows).items()]
    return Graph.of([*build.build(), *ops])


def _compiled(graph: Graph, before: Plan | None = None) -> Plan:
    graph = graph if before is None else continue_graph(graph, before.graph)
    targets = [name for name in graph.operations if name != "x"]
    return compile_plan(graph, [], targets, [TensorRef("x")], before)


@given(ROWS.map(dict), st.data())
def test_types_are_compared_as_they_stand(rows: dict[str, str], data: st.DataObject) -> None:
    many = {f"n{number}": TYPES[number % 3] for number in range(20)}
    before = {**many, **rows}
    after = [*before.items()]
    for _ in range(data.draw(st.integers(0, 3))):
        place, row = data.draw(st.integers(0, len(after) - 1)), data.draw(ROWS)[0]
        after[place : place + data.draw(st.integers(0, 1))] = [row]
    old = _compiled(_drawn([*before.items()]))
    new = _compiled(_drawn(after), old)
    wanted = [s.op.type for s in old.steps] == [s.op.type for s in new.steps]
    assert _have_same_types(old, new) == wanted
    assert _have_same_types(new, _compiled(old.graph, new)) == wanted
