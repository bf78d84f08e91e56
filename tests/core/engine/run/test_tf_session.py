"""Session.run beyond feeds and pruning: state, failures, shapes known late."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder


def counter() -> Graph:
    b = GraphBuilder()
    b.one("AssignAdd", b.variable("n", shape=()), 1.0, name="count")
    return b.build()


def test_sessions_on_one_graph_are_independent() -> None:
    graph = counter()
    first, second = (Session(graph, initial={"n": np.float32(i)}) for i in (0, 10))
    first.run(["count"])
    assert [float(s.run(["n"])[0]) for s in (first, second)] == [1, 10]


def test_values_can_be_copied_between_sessions() -> None:
    graph = counter()
    first, second = Session(graph, initial={"n": np.float32(3)}), Session(graph)
    second.store.set("n", first.store["n"])
    second.run(["count"])
    assert [float(s.run(["n"])[0]) for s in (first, second)] == [3, 4]


def test_results_do_not_change_with_the_next_run() -> None:
    session = Session(counter(), initial={"n": np.float32(0)})
    first = session.run(["count"])[0]
    session.run(["count"])
    assert float(first) == 1
    stored = session.store["n"]
    session.run(["count"])
    assert float(stored) == 2


def test_updates_before_a_failure_stay_done() -> None:
    b = GraphBuilder()
    b.one("AssignAdd", b.variable("n", shape=()), 1.0, name="count")
    with b.control_dependencies(["count"]):
        b.one("Identity", b.placeholder("x"), name="y")
    graph = b.build()
    graph = Graph.of(
        Operation("x", "Placeholder", (), ("count",), graph["x"].attrs) if op.name == "x" else op
        for op in graph
    )
    session = Session(graph, initial={"n": np.float32(0)})
    with pytest.raises(GradstepError, match="must feed"):
        session.run(["y"])
    assert float(session.store["n"]) == 1


def test_one_graph_runs_with_feeds_of_several_shapes() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(None, 2))
    b.one("Sum", x * 2.0, [0], name="y")
    session = Session(b.build())
    for rows in (1, 3, 1, 0):
        (y,) = session.run(["y"], {"x": np.ones((rows, 2))})
        assert y.tolist() == [2.0 * rows] * 2


def test_shapes_that_do_not_fit_fail_at_their_operation() -> None:
    b = GraphBuilder()
    b.one("AddV2", b.placeholder("x"), b.placeholder("y"), name="z")
    with pytest.raises(GradstepError, match="Incompatible shapes") as caught:
        Session(b.build()).run(["z"], {"x": np.ones((2, 3)), "y": np.ones(4)})
    assert caught.value.node == "z"


def test_an_unknown_op_type_is_named_where_it_is_used() -> None:
    graph = Graph.of([Operation("odd", "Frobnicate"), *counter()])
    session = Session(graph, initial={"n": np.float32(0)})
    assert float(session.run(["count"])[0]) == 1  # it is not needed for this
    with pytest.raises(GradstepError, match="Frobnicate") as caught:
        session.run(["odd"])
    assert (caught.value.kind, caught.value.node) == ("UnknownOpError", "odd")


def test_an_unconnected_input_is_named() -> None:
    b = GraphBuilder()
    b.one("Neg", b.constant(1.0), name="x")
    graph = Graph.of([*b.build(), Operation("sum", "AddV2", (TensorRef("x"), None))])
    with pytest.raises(GradstepError, match="'y' is not connected") as caught:
        Session(graph).run(["sum"])
    assert caught.value.node == "sum"


def test_nan_and_infinity_are_data() -> None:
    b = GraphBuilder()
    b.one("RealDiv", b.placeholder("x", shape=(3,)), 0.0, name="y")
    (y,) = Session(b.build()).run(["y"], {"x": [1, -1, 0]})
    np.testing.assert_array_equal(y, [np.inf, -np.inf, np.nan])


def test_initial_values_are_checked() -> None:
    graph = counter()
    for initial, words in [
        ({"n": np.zeros(3)}, "does not fit"),
        ({"count": np.zeros(())}, "not a variable"),
        ({"m": np.zeros(())}, "no operation named 'm'"),
    ]:
        with pytest.raises(GradstepError, match=words):
            Session(graph, initial=initial)


def test_a_variable_initialised_in_one_run_is_read_in_the_next() -> None:
    """A run is bound for the variables that have values; the next may have more."""
    b = GraphBuilder()
    v = b.variable("v", shape=(2,))
    b.one("Identity", v, name="read")
    b.one("Assign", v, [1.0, 2.0], name="init")
    session = Session(b.build())
    for _ in range(2):
        with pytest.raises(GradstepError, match="uninitialized"):
            session.run(["read"])
    session.run([], targets=["init"])
    assert session.run(["read"])[0].tolist() == [1, 2]


def test_variables_of_unknown_shape() -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=None)
    b.one("Assign", v, b.placeholder("x"), name="set", validate_shape=False)
    b.one("Mul", v, 2.0, name="twice")
    session = Session(b.build())
    for value in ([1.0], [[1.0, 2.0]]):
        session.run([], {"x": value}, ["set"])
        assert session.run(["twice"])[0].tolist() == (np.array(value) * 2).tolist()


def test_two_declarations_may_share_one_variable() -> None:
    b = GraphBuilder()
    for name in ("here", "there"):
        b.one(
            "VariableV2",
            name=name,
            dtype=DType.FLOAT32,
            shape=b.constant(0.0).shape,
            shared_name="both",
        )
    b.one("AssignAdd", b.get("here"), 1.0, name="count")
    session = Session(b.build(), initial={"here": np.float32(1)})
    session.run([], targets=["count"])
    assert float(session.run(["there"])[0]) == 2
