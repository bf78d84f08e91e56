"""What is known of a graph after an edit is what would be found anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import continue_graph, edit_before
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.used_names import names_of
from gradstep.core.ops.typing.inference import infer, infer_declared
from tests.support.edited_graphs import edited
from tests.support.layouts import Case
from tests.support.random_networks import networks
from tests.support.work import lines_run


def _find_all(graph: Graph) -> tuple[object, ...]:
    order: object
    try:
        order = graph.order
    except GradstepError as error:
        order = str(error)
    inferred = infer_declared(graph)
    constants = {name: value.tobytes() for name, value in inferred.constants.items()}
    known = (inferred.types.of, constants, inferred.problems)
    consumers = list(graph.consumers.items())
    by_type = {type: sorted(names) for type, names in graph.by_type.items()}
    return order, consumers, graph.readers[1], by_type, graph.unwired, known


@given(networks(), st.data())
def test_it_is_as_found_anew(case: Case, data: st.DataObject) -> None:
    graph = case.graph
    graphs = [graph]
    for _ in range(data.draw(st.integers(1, 5))):
        _find_all(graph)
        names_of(graph)
        undo = data.draw(st.integers(0, 3)) == 0
        asked = data.draw(st.sampled_from(graphs)) if undo else edited(graph, set(), data.draw)
        graph = continue_graph(Graph(dict(asked.operations)), graph)
        graphs.append(graph)
        anew = Graph(dict(graph.operations))
        for found, wanted in zip(_find_all(graph), _find_all(anew), strict=True):
            assert found == wanted
        assert names_of(graph).everything() == names_of(anew).everything()
        assert infer_declared(graph).types.of == infer(anew).types.of


def _chain(length: int) -> Graph:
    build = GraphBuilder()
    h = build.placeholder("x", "float32", (2,))
    shared = build.constant(2.0, name="shared")
    for number in range(length):
        h = build.one("Mul", h, shared, name=f"part{number}/mul")
    return build.build()


def test_an_edit_is_remembered_while_somebody_has_the_graph_before() -> None:
    before = _chain(3)
    op = before["part1/mul"].with_attrs(_note="seen")
    after = continue_graph(Graph({**before.operations, op.name: op}), before)
    found = edit_before(after)
    assert found is not None
    assert found[0] is before
    assert found[1].changed == {op.name}
    assert continue_graph(Graph(dict(before.operations)), before) is before
    del before, found
    assert edit_before(after) is None


def test_an_edit_looks_at_no_more_of_a_larger_graph() -> None:
    """Lines of Python; what goes through names in C is one line."""

    def work(length: int) -> int:
        before = _chain(length)
        _find_all(before)
        names_of(before)
        name = f"part{length // 2}/mul"
        op = Operation(name, "Mul", (TensorRef("x"), TensorRef("shared")))
        again = {**before.operations, name: op}

        def edit() -> None:
            graph = continue_graph(Graph(again), before)
            _find_all(graph)
            names_of(graph)

        return sum(lines_run(edit).values())

    small, large = work(50), work(400)
    assert large < 1.5 * small
