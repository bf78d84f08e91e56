"""Why: the state, the place, the element and the path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import Explanation
from tests.support.networks import Arrays, network
from tests.support.whys import graph_of, why_gradient


def why(graph: Graph, request: GradientRequest, point: Arrays) -> Explanation:
    of, wrt = request.of[0], request.wrt[0]
    return Explainer(Situation(graph, request, {}, point)).gradient(str(of), str(wrt))


def unary(*types: str) -> Graph:
    """x [2] through a chain of unary ops named after their types, lower case, to `loss`."""
    build = GraphBuilder()
    y = build.placeholder("x", shape=[2])
    for type in types:
        y = build.one(type, y, name=type.lower())
    build.one("Sum", y, np.array([0], np.int32), name="loss")
    return build.build()


def at(*values: float) -> dict[TensorRef, np.ndarray]:
    return {TensorRef("x"): np.array(values, np.float32)}


REQUEST = GradientRequest.to("loss", "x")


def test_a_finite_gradient_is_ok_and_its_path_is_given() -> None:
    found = why(unary("Tanh"), REQUEST, at(0.1, 0.2))
    assert (found.state, found.path) == ("ok", ["loss", "tanh", "x"])


def test_none_by_an_op_without_gradient() -> None:
    found = why(unary("Tanh", "Floor", "Exp"), REQUEST, at(0.1, 0.2))
    assert (found.state, found.cause, found.node) == ("none", "not_differentiable", "floor")
    assert found.path == ["loss", "exp", "floor"]
    assert "Floor has no gradient" in found.text


def test_none_by_a_stopped_wire() -> None:
    request = replace(REQUEST, stopped_edges=frozenset({Edge("exp", 0)}))
    found = why(unary("Tanh", "Exp"), request, at(0.1, 0.2))
    assert (found.state, found.cause, found.node) == ("none", "stopped", "exp")


def test_none_because_nothing_leads_there(point: Arrays) -> None:
    build = GraphBuilder(network())
    build.placeholder("other", shape=[])
    found = why(build.build(), GradientRequest.to("loss", "other"), point)
    assert (found.state, found.cause, found.path) == ("none", "unconnected", [])


def test_zero_names_the_operation_that_multiplies_by_zero() -> None:
    found = why(unary("Exp", "Neg", "Relu", "Tanh"), REQUEST, at(1.0, 2.0))
    assert (found.state, found.cause, found.node) == ("zero", "inactive", "relu")
    assert "neg" in found.text


def test_zero_by_cancellation_is_told_apart() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[2])
    build.one("Sum", build.one("Sub", x, x, name="d"), np.array([0], np.int32), name="loss")
    found = why(build.build(), REQUEST, at(1.0, 2.0))
    assert (found.state, found.cause) == ("zero", "cancelled")


def test_nan_made_in_the_backward_pass_names_op_and_element() -> None:
    """log is infinite at 0, and so is its gradient there; 0 * inf is NaN."""
    build = GraphBuilder()
    x = build.placeholder("x", shape=[2])
    y = build.one("Mul", build.one("Log", x, name="log"), x, name="mul")
    build.one("Sum", y, np.array([0], np.int32), name="loss")
    found = why(build.build(), REQUEST, at(1.0, 0.0))
    assert found.state in ("nan", "inf")
    assert found.node == "log"
    assert found.index == [1]
    assert "x = 0" in found.text


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_was_fed_broken_is_said_to_be_so(bad: float) -> None:
    found = why(unary("Square"), REQUEST, at(1.0, bad))
    assert found.state == ("nan" if np.isnan(bad) else "inf")
    assert found.node == "x"


ASSIGNED = (
    " Gradients do not pass assignments: to train through the value, use it itself and not the "
    "variable it is assigned to."
)


@pytest.mark.parametrize("read", [False, True])
def test_an_assignment_on_the_way_is_told_with_what_to_do(read: bool) -> None:
    """Whether its value is read, or the variable that it has written."""

    def build(b: GraphBuilder) -> None:
        x, r = b.placeholder("x", shape=[2]), b.variable("r", shape=[2])
        written = b.one("Assign", r, x, name="assign")
        tf.reduce_sum(tf.multiply(written if read else r, 2.0, name="twice"), name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": [1, 2], "r": [1, 2]})
    assert (found.state, found.cause, found.node) == ("none", "assigned", "assign")
    assert found.text.endswith(ASSIGNED)
    assert found.path[0] == "loss"
    assert found.path[-1] == "assign"


def test_where_a_wire_leads_there_no_assignment_is_blamed() -> None:
    def build(b: GraphBuilder) -> None:
        x, r = b.placeholder("x", shape=[2]), b.variable("r", shape=[2])
        b.one("Assign", r, x, name="assign")
        both = tf.multiply(r, tf.stop_gradient(x, name="stop"), name="both")
        tf.reduce_sum(both, name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": [1, 2], "r": [1, 2]})
    assert (found.cause, found.node) == ("not_differentiable", "stop")
    assert ASSIGNED not in found.text


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_of_what_is_no_number_to_differentiate(dtype: str) -> None:
    def build(b: GraphBuilder) -> None:
        tf.cast(b.placeholder("x", shape=[2]) * 2.0, dtype)

    graph = graph_of(build)
    last = graph.order[-1]
    found = why_gradient(graph, last, "x", {"x": [1, 2]})
    assert (found.state, found.cause, found.node, found.path) == (
        *("none", "not_differentiable", last),
        [last],
    )
    assert found.text == (
        f"d {last} / d x is None: {last} holds {dtype} values, which have no gradient."
    )


def test_no_wire_leads_there() -> None:
    build = GraphBuilder(unary("Exp"))
    build.placeholder("other", shape=[])
    found = why(build.build(), GradientRequest.to("loss", "other"), at(1, 2))
    assert found.text == "d loss / d other is None: no wire leads from other to loss."


def test_a_gradient_by_a_rule_that_gives_none_is_the_rules() -> None:
    found = why(unary("Tanh", "Floor", "Exp"), REQUEST, at(0.1, 0.2))
    assert found.text == (
        "d loss / d x is None: the gradient ends at floor, on the wire tanh → floor: Floor has no "
        "gradient."
    )
