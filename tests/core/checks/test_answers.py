"""Whole answers: every number, name and place in them, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.questioned_run import Recollection
from gradstep.core.checks.why.run_explanations import GradientQuestion
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.messages import Control, Explained, Explanation, Open, Why
from tests.core.checks.test_planted_causes import (
    branch,
    cancelling,
    dead_unit,
    layer,
    masked_log,
    masked_units,
    of_both,
    of_x,
    product,
    two_layers,
)
from tests.support.each_case import each_of
from tests.support.whys import graph_of, why_gradient, why_value

X = [1, 2, 3]


def two_masks(b: GraphBuilder) -> None:
    x, m, n = (b.placeholder(name, shape=[3]) for name in "xmn")
    both = tf.add(tf.multiply(x, m, name="p"), tf.multiply(x, n, name="q"))
    tf.reduce_sum(both, name="loss")


def powers(b: GraphBuilder) -> None:
    """x · m^4, in a loop."""
    x, m = b.placeholder("x", shape=[]), b.placeholder("m", shape=[])
    turn = lambda i, a: (i + 1, tf.multiply(a, m, name="t"))  # noqa: E731
    tf.identity(tf.while_loop(lambda i, a: i < 4, turn, (0, x))[1], name="loss")


def never(b: GraphBuilder) -> None:
    """A loop that would multiply by m in a branch that no iteration takes."""
    x, m = b.placeholder("x", shape=[]), b.placeholder("m", shape=[])

    def turn(i: Any, a: Any) -> Any:
        taken = tf.cond(
            tf.less(i, 0), lambda: tf.multiply(a, m, name="t"), lambda: tf.constant(1.0)
        )
        return i + 1, taken

    tf.identity(tf.while_loop(lambda i, a: i < 4, turn, (0, x))[1], name="loss")


def sometimes_none(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[])

    def turn(i: Any, a: Any) -> Any:
        none = lambda: tf.multiply(a, 0.0, name="none")  # noqa: E731
        return i + 1, tf.cond(tf.less(i, 2), lambda: tf.multiply(a, 2.0), none)

    tf.identity(tf.while_loop(lambda i, a: i < 4, turn, (0, x))[1], name="loss")


def inner_loop(b: GraphBuilder) -> None:
    """The product of 2 - i - j, for i < 2 and j < 3: zero for 0 and 2, and for 1 and 1."""

    def outer(i: Any, a: Any) -> Any:
        def inner(j: Any, c: Any) -> Any:
            factor = tf.subtract(2.0, tf.cast(i + j, "float32"), name="factor")
            return j + 1, tf.multiply(c, factor, name="m")

        return i + 1, tf.while_loop(lambda j, c: j < 3, inner, (0, a))[1]

    x = b.placeholder("x", shape=[])
    tf.identity(tf.while_loop(lambda i, a: i < 2, outer, (0, x))[1], name="loss")


def roots(b: GraphBuilder) -> None:
    """a = sqrt(a - i): from 16 that is 4, 1.73 and then NaN."""
    x = b.placeholder("x", shape=[])

    def turn(i: Any, a: Any) -> Any:
        return i + 1, tf.sqrt(tf.subtract(a, tf.cast(i, "float32"), name="d"), name="root")

    tf.identity(tf.while_loop(lambda i, a: i < 4, turn, (0, x))[1], name="loss")


def columns(b: GraphBuilder) -> None:
    """Of the product of two matrices the element in the first row and the second column."""
    layer(b)
    tf.slice(b.get("layer"), [0, 1], [1, 1], name="one")


MASK = "To mend it, change mask, if it is not to be a mask."
GRADIENTS: list[tuple[Callable[[GraphBuilder], object], str, Mapping[str, Any], str]] = [
    (product, "x", {"x": X, "mask": X},
     "d loss / d x: it is finite and not zero (norm 11.225)."),
    (product, "x", {"x": X, "mask": [0, 0, 0]},
     "d loss / d x is zero: a gradient arrives at prod (Mul) at index [0] and none of it goes on, "
     f"with mul = 3, mask = 0: mask is 0 there; mask was fed. {MASK}"),
    (masked_units, "x", {"x": [-1, 2, 3], "mask": [0, 0, 0]},
     "d loss / d x is zero: a gradient arrives at square (Square) at index [0] and none of it goes "
     "on, with masked = 0: its slope is 0 there; masked (Mul) gives 0 at index [0], from unit = 0, "
     "mask = 0: mask is 0 there; mask was fed."),
    (dead_unit, "x", {"x": X},
     "d loss / d x is zero: a gradient arrives at relu (Relu) at index [0] and none of it goes on, "
     "with neg = -1: it is inactive (a dead unit), as its input is not positive there. To mend it, "
     "use LeakyRelu, a smaller learning rate, or a larger bias to begin with."),
    (cancelling, "x", {"x": X},
     "d loss / d x is zero: what comes back to x cancels at index [0]: 2 from a and -2 from b."),
    (two_layers, "x", {"x": X, "y": X, "mask": [0, 0, 0]},
     "d loss / d x is zero: a gradient arrives at outer (Mul) at index [0] and none of it goes on, "
     "with x = 1, inner = 0: inner is 0 there; inner (Mul) gives 0 at index [0], from y = 1, mask "
     "= 0: mask is 0 there; mask was fed. To mend it, change mask, if it is not to be a mask."),
    (two_masks, "x", {"x": X, "m": [0, 0, 0], "n": [0, 0, 0]},
     "d loss / d x is zero: a gradient arrives at p (Mul) at index [0] and none of it goes on, "
     "with x = 1, m = 0: m is 0 there; m was fed. 1 other way back leads to nothing, too. To mend "
     "it, change m, if it is not to be a mask."),
    (branch, "x", {"x": 1, "p": np.array(False)},
     "d loss / d x is zero: cond/twice is in a branch that was not taken because p is False."),
    (branch, "x", {"x": 1, "p": np.array(True)},
     "d loss / d x: it is finite and not zero (norm 2)."),
    (branch, "cond/twice", {"x": 1, "p": np.array(False)},
     "d loss / d cond/twice has no value: it is in a branch that was not taken because p is "
     "False."),
    (masked_log, "x", {"x": [1, 0, 2]},
     "d loss / d x is NaN: log (Log) makes the first infinity at index [1], from x = 0: the "
     "logarithm of 0 is minus infinity; in the gradient of log its step Mul makes NaN at index "
     "[1], from d loss / d log = 0, its Reciprocal = inf: it is 0 times infinity. To mend it, keep "
     "x above 0: write x + 1e-7, or Maximum(x, 1e-7)."),
    (of_both(tf.divide), "y", {"x": X, "y": [1, 0, 2]},
     "d loss / d y is infinite: node (RealDiv) makes the first infinity at index [1], from x = 2, "
     "y = 0: it is a division by 0. To mend it, keep y away from 0, or use DivNoNan, which gives 0 "
     "there."),
    (powers, "x", {"x": 1, "m": 0},
     "d loss / d x is zero: a gradient arrives at while/t (Mul) and none of it goes on, with m = "
     "0: m is 0 there, in iteration 4 of while/While; m was fed. To mend it, change m, if it is "
     "not to be a mask."),
    (layer, "x", {"x": [[1, 2], [3, 4]], "w": [[0, 0], [0, 0]]},
     "d loss / d x is zero: a gradient arrives at layer (MatMul) at index [0, 0] and none of it "
     "goes on, with x = 1, w = 0: w is 0 there; w was fed. To mend it, let w begin with other "
     "numbers, such as small random ones."),
    (never, "m", {"x": 1, "m": 2},
     "d loss / d m is zero: while/cond/t is in a branch that was not taken because while/Less_1 is "
     "False, in iteration 4 of while/While."),
    (never, "x", {"x": 1, "m": 2},
     "d loss / d x is zero: while/cond/t is in a branch that was not taken because while/Less_1 is "
     "False, in iteration 1 of while/While."),
    (sometimes_none, "x", {"x": 1},
     "d loss / d x is zero: a gradient arrives at while/cond/none (Mul) and none of it goes on, "
     "with while/cond/Const_1 = 0: while/cond/Const_1 is 0 there, in iteration 4 of while/While. "
     "To mend it, change while/cond/Const_1, if it is not to be a mask."),
    (of_x(tf.square), "x", {"x": [0, 0, 0]},
     "d loss / d x is zero: a gradient arrives at node (Square) at index [0] and none of it goes "
     "on, with x = 0: its slope is 0 there; x was fed."),
    (of_x(tf.square), "x", {"x": [1e-9, 0, 0]},
     "d loss / d x: it is finite (norm 2e-09); 2 of 3 elements are 0, at [1] and [2]; there is "
     "next to nothing left to learn: what node measures is almost 0."),
    (powers, "m", {"x": 0, "m": 2},
     "d loss / d m is zero: a gradient arrives at while/t (Mul) and none of it goes on, with "
     "while/Identity_1 = 0: while/Identity_1 is 0 there, in iteration 4 of while/While; x was fed. "
     "3 other ways back lead to nothing, too. To mend it, change x, if it is not to be a mask."),
]  # fmt: skip


@each_of(("build", "wrt", "values", "text"), GRADIENTS)
def test_of_a_gradient(
    build: Callable[[GraphBuilder], object], wrt: str, values: Mapping[str, Any], text: str
) -> None:
    assert why_gradient(graph_of(build), "loss", wrt, values).text == text


VALUES: list[tuple[Callable[[GraphBuilder], object], str, Mapping[str, Any], str]] = [
    (branch, "cond/twice", {"x": 1, "p": np.array(False)},
     "cond/twice has no value: branch not taken because p is False."),
    (branch, "loss", {"x": 0, "p": np.array(True)},
     "loss is zero: x holds 0: it was fed. To mend it, mend the feed."),
    (powers, "loss", {"x": 1, "m": 0},
     "loss is zero: while/t (Mul) gives 0, from while/Identity_1 = 1, while/t/Enter = 0, in "
     "iteration 1 of while/While: while/t/Enter is 0 there; m was fed. To mend it, change "
     "while/t/Enter, if it is not to be a mask."),
    (roots, "loss", {"x": 16},
     "loss is NaN: while/root (Sqrt) makes the first NaN, from while/d = -0.267949, in iteration 3 "
     "of while/While: a negative number has no root. To mend it, keep while/d at 0 or above."),
    (
        roots,
        "while/root",
        {"x": 1e9},
        "while/root, in iteration 4 of while/While, is finite and not zero: it is 3.20311.",
    ),
    (of_x(tf.nn.softmax), "node", {"x": [1, 0, 0]},
     "node is finite and not zero: it lies in [0.211942, 0.576117]."),
]  # fmt: skip


@each_of(("build", "of", "values", "text"), VALUES)
def test_of_a_value(
    build: Callable[[GraphBuilder], object], of: str, values: Mapping[str, Any], text: str
) -> None:
    found = why_value(graph_of(build), of, values, fetch="loss")
    assert found.text == text


def blamed(found: Explanation) -> list[tuple[str, list[int] | None, str]]:
    return [(link.node, link.index, link.operand) for link in found.chain]


def test_of_several_zeros_the_one_that_counts_is_named() -> None:
    """An element of a product follows a column, which begins behind a zero of another."""
    ones = [[1, 1], [1, 1]]
    graph = graph_of(columns)
    found = why_value(graph, "one", {"x": ones, "w": [[0, 0], [3, 0]]}, fetch="one")
    assert blamed(found) == [("layer", [0, 1], "w"), ("w", [0, 1], "")]
    found = why_value(graph, "one", {"x": [[0, 0], [1, 1]], "w": ones}, fetch="one")
    assert blamed(found)[0] == ("layer", [0, 1], "x")
    assert why_value(graph, "one", {"x": ones, "w": [[0, 5], [3, 0]]}, fetch="one").state == "ok"


def test_a_zero_in_a_loop_in_a_loop() -> None:
    """On the way there the first one is met, on the way back the last one."""
    graph = graph_of(inner_loop)
    there = why_value(graph, "loss", {"x": 1})
    back = why_gradient(graph, "loss", "x", {"x": 1})
    for found, outer, inner in ((there, 0, 2), (back, 1, 1)):
        assert (found.state, found.cause, found.node) == ("zero", "zero_factor", "while/while/m")
        link, behind = found.chain
        assert link.operand == behind.node == "while/while/factor"
        numbers = [number for number, _ in link.iterations]
        assert numbers == [number for number, _ in behind.iterations] == [outer, inner]


def test_the_path_goes_from_the_loss_to_what_is_asked_about() -> None:
    found = why_gradient(graph_of(product), "loss", "x", {"x": X, "mask": X})
    assert found.path == ["loss", "prod", "mul", "x"]
    found = why_gradient(graph_of(product), "loss", "x", {"x": X, "mask": [0, 0, 0]})
    assert found.path == ["loss", "prod"]
    found = why_gradient(graph_of(masked_log), "loss", "x", {"x": [1, 0, 2]})
    assert found.path == ["loss", "where", "log"]
    found = why_value(graph_of(product), "loss", {"x": X, "mask": [0, 0, 0]})
    assert found.path == ["loss", "prod"]


def test_a_step_that_is_called_like_an_operation_has_its_full_name() -> None:
    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[3])
        doubled = tf.multiply(x, 2.0, name="Mul")
        masked = tf.where(tf.greater(x, 0.0), tf.log(doubled, name="log"), tf.zeros_like(x))
        tf.reduce_sum(masked, name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": [1, 0, 2]})
    step = re.search(r"in the gradient of log its step Mul \((\S+)\) makes NaN", found.text)
    assert step is not None, found.text
    assert step[1].rpartition("/")[2] == "Mul"


@pytest.mark.parametrize(
    ("ways", "said"),
    [(1, "."), (2, ". 1 other way back ended too."), (3, ". 2 other ways back ended too.")],
)
def test_other_ways_that_end_are_counted(ways: int, said: str) -> None:
    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[3])
        stopped = [tf.stop_gradient(x, name=f"stop{n}") for n in range(ways)]
        tf.reduce_sum(tf.add_n(stopped), name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": X})
    assert (found.state, found.node) == ("none", f"stop{ways - 1}")
    assert f"on the wire x → stop{ways - 1}: " in found.text
    assert found.text.endswith(f"StopGradient has no gradient{said}")


def test_a_gradient_that_comes_from_nowhere_starts_at_zero() -> None:
    graph = graph_of(given_start)
    values = {"x": X, "start": [0, 0, 0]}
    found = why_gradient(graph, "y", "x", values, grad_ys=(TensorRef("start"),))
    assert (found.state, found.node) == ("zero", "y")
    assert "it starts at 0, where y is differentiated" in found.text
    found = why_gradient(
        graph, "y", "x", {"x": X, "start": [0, 5, 0]}, grad_ys=(TensorRef("start"),)
    )
    assert found.text == (
        "d y / d x: it is finite (norm 10); 2 of 3 elements are 0, at [0] and [2]."
    )


def given_start(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[3])
    b.placeholder("start", shape=[3])
    tf.multiply(x, 2.0, name="y")


def test_before_a_run_there_is_a_gradient_without_a_value() -> None:
    graph = graph_of(product)
    values = {TensorRef(n): np.float32(X) for n in ("x", "mask")}
    derived = differentiate(graph, GradientRequest.to("loss", "x"), {})
    gradient = derived.gradients[TensorRef("x")]
    session = DebugSession(Program(derived.graph, graph, fetches=(gradient,), feeds=values))
    loss, x = TensorRef("loss"), TensorRef("x")
    asked = GradientQuestion(Recollection(session, 0), graph, derived, loss, x)
    found = asked.explanation()
    assert (found.state, found.cause) == ("ok", "")
    assert found.text == "d loss / d x: it exists; run the graph to see its value."
    session.continue_()
    asked = GradientQuestion(Recollection(session, 0), graph, derived, loss, x)
    assert asked.explanation().text == "d loss / d x: it is finite and not zero (norm 11.225)."


def test_of_several_losses_one_begins_where_the_other_ends() -> None:
    """d(x - x)/dx, as two losses: what one begins with is told from what came over a wire."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[])
        tf.negative(x, name="n")

    graph, x, n = graph_of(build), TensorRef("x"), TensorRef("n")
    derived = differentiate(graph, GradientRequest((x, n), (x,)), {})
    gradient = derived.gradients[x]
    program = Program(derived.graph, graph, fetches=(gradient,), feeds={x: np.float32(1)})
    session = DebugSession(program)
    session.continue_()
    found = GradientQuestion(Recollection(session, 0), graph, derived, n, x).explanation()
    assert found.text == (
        "d n / d x is zero: what comes back to x cancels: -1 from n and 1 from grad_ys."
    )


def test_a_nan_of_the_way_there_is_not_blamed_on_the_way_back() -> None:
    """A gradient that is NaN as its operation read one: named with where that came from."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[2])
        tf.reduce_sum(tf.multiply(tf.log(x, name="log"), x, name="product"), name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": [1, -1]})
    assert (found.state, found.cause, found.node, found.index) == (
        *("nan", "log_of_negative", "log"),
        [1],
    )
    assert [link.phase for link in found.chain] == ["forward"]


def test_what_stands_for_the_gradient_of_texts() -> None:
    b = GraphBuilder()
    b.placeholder("text", DType.STRING, shape=[2])
    tf.reduce_sum(tf.square(b.placeholder("x", shape=[2])), name="loss")
    document = Document(
        graph=b.build(),
        request=replace(GradientRequest.to("loss", "text"), unconnected_zero=True),
        feeds={
            "text:0": Constant(np.array([b"a", b"b"], object)),
            "x:0": Constant(np.ones(2, np.float32)),
        },
    )
    service = EngineService(CpuOnly())
    service.handle(Open(), (gradstep_file.to_bytes(document),))
    service.handle(Control(command="continue_"), ())
    reply, _ = service.handle(Why(of="loss:0", wrt="text:0"), ())
    assert isinstance(reply, Explained), reply
    assert reply.explanation.text == "d loss / d text: it holds texts, and no numbers."
