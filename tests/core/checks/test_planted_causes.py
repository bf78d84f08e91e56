"""Causes planted in small graphs are named: the state, the cause, the node, the element, and which
operand is to blame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.each_case import each_of
from tests.support.whys import graph_of, why_gradient, why_value

BIG = 1000.0


def loss(y: Tensor) -> Tensor:
    return tf.reduce_sum(y, name="loss")


def of_x(function: Callable[..., Tensor], *constants: Any) -> Callable[[GraphBuilder], object]:
    """loss = sum(node(x)): the operation made by `function` is called `node`."""
    return lambda b: loss(function(b.placeholder("x", shape=[3]), *constants, name="node"))


def of_both(function: Callable[..., Tensor]) -> Callable[[GraphBuilder], object]:
    """loss = sum(node(x, y))."""
    return lambda b: loss(
        function(b.placeholder("x", shape=[3]), b.placeholder("y", shape=[3]), name="node")
    )


def whole(function: Callable[..., Tensor]) -> Callable[[GraphBuilder], object]:
    """loss = function(x, y), of whole numbers."""
    return lambda b: function(*(b.placeholder(n, "int32", [3]) for n in "xy"), name="loss")


def given_start(b: GraphBuilder) -> None:
    x, m, _ = (b.placeholder(name, shape=[3]) for name in ("x", "m", "start"))
    tf.multiply(x, m, name="loss")


def three_parts(b: GraphBuilder) -> None:
    """The second is against the first in its last elements alone."""
    x = b.placeholder("x", shape=[3])
    a = tf.multiply(x, 2.0, name="a")
    last = tf.multiply(x, np.array([0, -2, -2], np.float32), name="b")
    first = tf.multiply(x, np.array([-2, 0, 0], np.float32), name="c")
    loss(tf.add_n([a, last, first]))


def product(b: GraphBuilder) -> None:
    x, mask = (b.placeholder(name, shape=[3]) for name in ("x", "mask"))
    loss(tf.multiply(tf.multiply(x, 3.0, name="mul"), mask, name="prod"))


def masked_gather(b: GraphBuilder) -> None:
    x, mask = b.placeholder("x", shape=[3]), b.placeholder("mask", shape=[2])
    rows = tf.gather(x, np.array([2, 0], np.int32), name="g")
    loss(tf.multiply(rows, mask, name="masked"))


def chosen(b: GraphBuilder) -> None:
    x, y = (b.placeholder(name, shape=[3]) for name in ("x", "y"))
    condition = tf.greater(y, 0.0, name="condition")
    loss(tf.where(condition, tf.multiply(x, 3.0, name="mul"), tf.zeros_like(x), name="where"))


def weighed_softmax(b: GraphBuilder) -> None:
    probabilities = tf.nn.softmax(b.placeholder("x", shape=[3]), name="softmax")
    loss(tf.multiply(probabilities, np.array([1, 2, 3], np.float32)))


def fitted(b: GraphBuilder) -> None:
    logits, labels = b.placeholder("x", shape=[1, 3]), np.array([[1, 0, 0]], np.float32)
    loss(b.op("SoftmaxCrossEntropyWithLogits", logits, labels, name="entropy")[0])


def scaled_sigmoid(b: GraphBuilder) -> None:
    loss(tf.sigmoid(tf.multiply(b.placeholder("x", shape=[3]), 10.0, name="mul"), name="sigmoid"))


def cancelling(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[3])
    loss(tf.subtract(tf.multiply(x, 2.0, name="a"), tf.multiply(x, 2.0, name="b"), name="d"))


def taken_twice(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[3])
    loss(tf.subtract(x, x, name="difference"))


def behind_a_switch(b: GraphBuilder) -> None:
    p, x = b.placeholder("p", "bool", ()), b.placeholder("x", shape=())
    gate = tf.relu(x, name="gate")
    tf.identity(tf.cond(p, lambda: tf.multiply(gate, 2.0), lambda: x), name="loss")


def dead_unit(b: GraphBuilder) -> None:
    loss(tf.relu(tf.negative(b.placeholder("x", shape=[3]), name="neg"), name="relu"))


def layer(b: GraphBuilder) -> None:
    x, w = (b.placeholder(name, shape=[2, 2]) for name in ("x", "w"))
    loss(tf.matmul(x, w, name="layer"))


def masked_layer(b: GraphBuilder) -> None:
    """Each row of the weights is zero by another of its factors; the last row of the layer
    counts."""
    x, v, mask = (b.placeholder(name, shape=[2, 2]) for name in ("x", "v", "mask"))
    rows = tf.concat([x, x], 0, name="rows")
    layer = tf.matmul(rows, tf.multiply(v, mask, name="w"), name="layer")
    loss(tf.slice(layer, [3, 0], [1, 2], name="last"))


def masked_part(b: GraphBuilder) -> None:
    """Of two tensors that are put together, the second one is masked."""
    x, y, mask = (b.placeholder(n, shape=[s]) for n, s in (("x", 3), ("y", 3), ("mask", 6)))
    loss(tf.multiply(tf.concat([y, x], 0, name="both"), mask, name="masked"))


def chosen_and_masked(b: GraphBuilder) -> None:
    """Some elements are not chosen, the others are masked before."""
    x, y, mask = (b.placeholder(name, shape=[3]) for name in ("x", "y", "mask"))
    product = tf.multiply(x, mask, name="prod")
    loss(tf.where(tf.greater(y, 0.0, name="condition"), product, tf.zeros_like(x), name="where"))


def two_layers(b: GraphBuilder) -> None:
    """Both products are zero; the inner one is the first to undo something."""
    x, y, mask = (b.placeholder(name, shape=[3]) for name in ("x", "y", "mask"))
    loss(tf.multiply(x, tf.multiply(y, mask, name="inner"), name="outer"))


def masked_units(b: GraphBuilder) -> None:
    """The first unit is dead besides."""
    x, mask = (b.placeholder(name, shape=[3]) for name in ("x", "mask"))
    masked = tf.multiply(tf.relu(x, name="unit"), mask, name="masked")
    loss(tf.square(masked, name="square"))


def one_part(b: GraphBuilder) -> None:
    """Of two tensors that are put together, the other one is taken."""
    x, y = (b.placeholder(name, shape=[3]) for name in ("x", "y"))
    loss(tf.slice(tf.concat([y, x], 0, name="both"), [0], [3], name="part"))


def bounded_part(b: GraphBuilder) -> None:
    """Of two tensors that are put together and bounded, one is masked afterwards."""
    x, y, mask = (b.placeholder(n, shape=[s]) for n, s in (("x", 3), ("y", 3), ("mask", 6)))
    bounded = tf.maximum(tf.concat([y, x], 0, name="both"), -5.0, name="bounded")
    loss(tf.multiply(bounded, mask, name="masked"))


def part_beyond_its_bound(b: GraphBuilder) -> None:
    x, y, bound = (b.placeholder(n, shape=[s]) for n, s in (("x", 3), ("y", 3), ("bound", 6)))
    loss(tf.minimum(tf.concat([y, x], 0, name="both"), bound, name="bounded"))


def largest_of_both(b: GraphBuilder) -> None:
    x, y = (b.placeholder(name, shape=[3]) for name in ("x", "y"))
    tf.reduce_max(tf.concat([y, x], 0, name="both"), 0, name="loss")


def growing(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[3])
    loss(tf.multiply(tf.multiply(x, 10.0, name="small"), 1e8, name="large"))


def in_the_middle(b: GraphBuilder) -> None:
    w, x = (b.placeholder(name, shape=[3]) for name in ("x", "data"))
    loss(tf.multiply(tf.multiply(w, x, name="y"), 2.0))


def assigned(b: GraphBuilder) -> None:
    x, r = (b.variable(name, shape=[3]) for name in ("x", "r"))
    b.one("Assign", r, x, name="assign")
    loss(tf.multiply(r, 2.0))


def assigned_and_read(b: GraphBuilder) -> None:
    x, r = (b.variable(name, shape=[3]) for name in ("x", "r"))
    loss(tf.multiply(b.one("Assign", r, x, name="assign"), 2.0))


def difference_of_infinities(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[3])
    loss(tf.subtract(tf.exp(x, name="first"), tf.exp(x, name="second"), name="difference"))


def overflowing_mean_square(b: GraphBuilder) -> None:
    loss(tf.square(b.placeholder("x", shape=[3]), name="square"))


def masked_log(b: GraphBuilder) -> None:
    """The trap of where: what is masked is NaN on the way back all the same."""
    x = b.placeholder("x", shape=[3])
    logs = tf.log(x, name="log")
    loss(tf.where(tf.greater(x, 0.0), logs, tf.zeros_like(x), name="where"))


def whole_numbers(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[3])
    loss(tf.cast(b.one("Cast", x, DstT="int32", name="whole"), "float32"))


def largest(b: GraphBuilder) -> None:
    place = b.one("ArgMax", b.placeholder("x", shape=[3]), np.int32(0), name="place")
    loss(tf.cast(place, "float32"))


def loop(step: Callable[[Tensor, Tensor], Tensor]) -> Callable[[GraphBuilder], object]:
    """loss = step(i, …step(0, x)), six times."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[])
        body = lambda i, a: (i + 1, step(tf.cast(i, "float32"), a))  # noqa: E731
        tf.identity(tf.while_loop(lambda i, a: i < 6, body, (0, x))[1], name="loss")

    return build


def no_turns(b: GraphBuilder) -> None:
    x, c = b.placeholder("c", shape=[]), b.placeholder("x", shape=[])
    _, y = tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * c), (0, x))
    tf.identity(y, name="loss")


def branch(b: GraphBuilder) -> None:
    p, x = b.placeholder("p", "bool", ()), b.placeholder("x", shape=())
    taken = tf.cond(p, lambda: tf.multiply(x, 2.0, name="twice"), lambda: tf.constant(1.0))
    tf.identity(taken, name="loss")


def two_logs(b: GraphBuilder) -> None:
    """Both are infinite; the first one is the one made first."""
    x, y = (b.placeholder(name, shape=[3]) for name in ("x", "y"))
    late, early = tf.exp(y, name="between"), tf.log(x, name="early")
    loss(tf.add(tf.log(late - 1.0, name="late"), early, name="both"))


@dataclass(frozen=True)
class Planted:
    """at: state, cause, node, index, operand. wrt: "" where the value is asked about."""

    build: Callable[[GraphBuilder], object]
    values: Mapping[str, Any]
    at: tuple[str, str, str | None, list[int] | None, str]
    wrt: str = "x"
    said: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)


STOPPED = {"stopped_edges": frozenset({Edge("node", 0)})}
X = [1, 2, 3]
WHOLE = np.int32(X)
PLANTED = {
    # -- the gradient is zero -------------------------------------------------------------------
    "product with zero": Planted(
        product, {"x": X, "mask": [0, 0, 0]}, ("zero", "zero_factor", "prod", [0], "mask"),
        said="with mul = 3, mask = 0: mask is 0 there; mask was fed",
    ),
    "masked gather": Planted(
        masked_gather, {"x": X, "mask": [0, 0]}, ("zero", "zero_factor", "masked", [0], "mask"),
        said="with g = 3, mask = 0",
    ),
    "where": Planted(
        chosen, {"x": X, "y": [-1, -2, -3]}, ("zero", "not_chosen", "where", [0], "condition"),
        said="condition (Greater) gives 0 at index [0], from y = -1",
    ),
    "saturated softmax": Planted(
        weighed_softmax, {"x": [BIG, 0, -BIG]}, ("zero", "saturated", "softmax", [0], "x"),
    ),
    "labels that are met": Planted(
        fitted, {"x": [[BIG, 0, 0]]}, ("zero", "fitted", "entropy", [0], "x"),
    ),
    "saturated sigmoid": Planted(
        scaled_sigmoid, {"x": [90, 80, 70]}, ("zero", "saturated", "sigmoid", [0], "mul"),
        said="with mul = 900: it is saturated",
    ),
    "sigmoid at its other end": Planted(
        scaled_sigmoid, {"x": [-90, -80, -70]}, ("zero", "saturated", "sigmoid", [0], "mul"),
    ),
    "saturated tanh": Planted(
        of_x(tf.tanh), {"x": [90, 80, 70]}, ("zero", "saturated", "node", [0], "x")
    ),
    "exp of -1000": Planted(
        of_x(tf.exp), {"x": [-BIG, -BIG, -BIG]}, ("zero", "underflow", "node", [0], "x"),
        said="it underflows",
    ),
    "cancelling paths": Planted(
        cancelling, {"x": X}, ("zero", "cancelled", "x", [0], ""),
        said="what comes back to x cancels at index [0]: 2 from a and -2 from b",
    ),
    "a tensor less itself": Planted(
        taken_twice, {"x": X}, ("zero", "cancelled", "x", [0], ""),
        said="1 from difference (x) and -1 from difference (y)",
    ),
    "dead relu": Planted(
        dead_unit, {"x": X}, ("zero", "inactive", "relu", [0], "neg"), said="with neg = -1"
    ),
    "maximum": Planted(
        of_both(tf.maximum), {"x": X, "y": [7, 8, 9]}, ("zero", "not_extreme", "node", [0], "y")
    ),
    "maximum with infinity": Planted(
        of_both(tf.maximum), {"x": X, "y": [np.inf] * 3},
        ("zero", "not_extreme", "node", [0], "y"), said="with x = 1, y = inf: it takes y there",
    ),
    "a bound that is kept, before a mask": Planted(
        bounded_part, {"x": X, "y": X, "mask": [1, 1, 1, 0, 0, 0]},
        ("zero", "zero_factor", "masked", [3], "mask"), said="with bounded = 1, mask = 0",
    ),
    "a bound of some": Planted(
        part_beyond_its_bound, {"x": X, "y": X, "bound": [9, 9, 9, 0, 0, 0]},
        ("zero", "not_extreme", "bounded", [3], "bound"), said="with both = 1, bound = 0",
    ),
    "the largest of many": Planted(
        largest_of_both, {"x": X, "y": [7, 8, 9]}, ("zero", "not_used", "loss", [], "both"),
        said="with both lies in [1, 9]: it takes other elements, and none of what leads there",
    ),
    "square at zero": Planted(
        of_x(tf.square), {"x": [0, 0, 0]}, ("zero", "stationary", "node", [0], "x")
    ),
    "square of what is masked": Planted(
        masked_units, {"x": [-1, 2, 3], "mask": [0, 0, 0]},
        ("zero", "stationary", "square", [0], "masked"),
        said="its slope is 0 there; masked (Mul) gives 0 at index [0], from unit = 0, mask = 0: "
        "mask is 0 there; mask was fed.",
    ),
    "sign": Planted(of_x(tf.sign), {"x": X}, ("zero", "flat", "node", [0], "")),
    "weights of zero": Planted(
        layer, {"x": [[1, 2], [3, 4]], "w": [[0, 0], [0, 0]]},
        ("zero", "zero_factor", "layer", [0, 0], "w"),
    ),
    "weights of zero, each row by another factor": Planted(
        masked_layer,
        {"x": [[1, 2], [3, 4]], "v": [[1, 1], [0, 0]], "mask": [[0, 0], [1, 1]]},
        ("zero", "zero_factor", "layer", [3, 0], "w"),
        said="w (Mul) gives 0 at index [0, 0], from v = 1, mask = 0: mask is 0 there",
    ),
    "the part that is masked": Planted(
        masked_part, {"x": X, "y": X, "mask": [1, 1, 1, 0, 0, 0]},
        ("zero", "zero_factor", "masked", [3], "mask"),
    ),
    "each element by something else": Planted(
        chosen_and_masked, {"x": X, "y": [-1, 2, 3], "mask": [1, 0, 0]},
        ("zero", "zero_factor", "prod", [1], "mask"), said="with x = 2, mask = 0: mask is 0 there",
    ),
    "weights that cancel": Planted(
        layer, {"x": [[1, 2], [3, 4]], "w": [[1, -1], [2, -2]]},
        ("zero", "cancelled", "layer", [0, 0], ""),
    ),
    "the part that is not taken": Planted(
        one_part, {"x": X, "y": X}, ("zero", "not_used", "part", [0], ""),
    ),
    "softmax that nobody weighs": Planted(
        of_x(tf.nn.softmax), {"x": X}, ("zero", "cancelled", "node", [0], "")
    ),
    "a factor, where the gradient is given": Planted(
        given_start, {"x": X, "m": [2, 0, 0], "start": [0, 5, 0]},
        ("zero", "zero_factor", "loss", [1], "m"), asked={"grad_ys": (TensorRef("start"),)},
        said="with x = 2, m = 0: m is 0 there",
    ),
    "three parts that cancel": Planted(
        three_parts, {"x": X}, ("zero", "cancelled", "x", [0], ""),
        said="what comes back to x cancels at index [0]: 2 from a, 0 from b and -2 from c",
    ),
    "what tells more comes first": Planted(
        lambda b: loss(
            tf.sign(x := b.placeholder("x", shape=[3]), name="sign")
            + tf.slice(tf.concat([tf.ones_like(x), x], 0, name="both"), [0], [3], name="part")
        ),
        {"x": X}, ("zero", "not_used", "part", [0], ""), said="1 other way back leads to nothing",
    ),
    "a factor in a loop": Planted(
        loop(lambda i, a: tf.multiply(a, 3.0 - i, name="m")), {"x": 1},
        ("zero", "zero_factor", "while/m", [], "while/Sub"), said="in iteration 4 of while/While",
    ),
    "no iterations": Planted(
        no_turns, {"x": 1, "c": 2}, ("zero", "no_iterations", "while/While", None, "")
    ),
    "a branch": Planted(
        branch, {"x": 1, "p": np.array(False)}, ("zero", "untaken", "cond/twice", None, ""),
        said="because p is False",
    ),
    # -- the gradient is None -------------------------------------------------------------------
    "stopped wire": Planted(
        of_x(tf.exp), {"x": X}, ("none", "stopped", "node", None, ""), asked=STOPPED
    ),
    "whole numbers": Planted(
        whole_numbers, {"x": X}, ("none", "not_differentiable", "Cast", None, "")
    ),
    "argmax": Planted(
        largest, {"x": X}, ("none", "not_differentiable", "Cast", None, ""),
    ),
    "assignment": Planted(
        assigned, {"x": X, "r": X}, ("none", "assigned", "assign", None, ""),
        said="x leads to loss only by way of r, which assign (Assign) assigns",
    ),
    "value of an assignment": Planted(
        assigned_and_read, {"x": X, "r": X}, ("none", "assigned", "assign", None, "")
    ),
    # -- the gradient is there, and strange -----------------------------------------------------
    "1e9": Planted(
        growing, {"x": X}, ("ok", "exploding", "large", None, ""),
        said="grows 1e+09 times, most of it at large (1e+08 times) and small (10 times)",
    ),
    "feed": Planted(
        in_the_middle, {"x": X, "y": [0, 0, 0]}, ("ok", "fed", "y", None, ""),
        said="loss does not follow x in this run: y is fed, which cuts the way",
    ),
    # -- NaN and infinity -----------------------------------------------------------------------
    "log of 0": Planted(
        of_x(tf.log), {"x": [1, 0, 0]}, ("inf", "log_of_zero", "node", [1], "x"), wrt="",
        said="node (Log) makes the first infinity at index [1], from x = 0",
    ),
    "gradient of log at 0": Planted(
        of_x(tf.log), {"x": [1, 0, 0]}, ("inf", "log_of_zero", "node", [1], "x")
    ),
    "log of a negative number": Planted(
        of_x(tf.log), {"x": [1, 2, -3]}, ("nan", "log_of_negative", "node", [2], "x"), wrt=""
    ),
    "masked log": Planted(
        masked_log, {"x": [1, 0, 2]}, ("nan", "log_of_zero", "log", [1], "x"),
        said="in the gradient of log its step Mul makes NaN at index [1]",
    ),
    "root of a negative number": Planted(
        of_x(tf.sqrt), {"x": [1, -2, 3]}, ("nan", "root_of_negative", "node", [1], "x"), wrt=""
    ),
    "gradient of sqrt at 0": Planted(
        of_x(tf.sqrt), {"x": [1, 0, 3]}, ("inf", "root_at_zero", "node", [1], "node")
    ),
    "0/0": Planted(
        of_both(tf.divide), {"x": [1, 0, 3], "y": [1, 0, 3]},
        ("nan", "zero_over_zero", "node", [1], "y"), wrt="",
    ),
    "x/0": Planted(
        of_both(tf.divide), {"x": [1, 2, 3], "y": [1, 2, 0]},
        ("inf", "division_by_zero", "node", [2], "y"), wrt="",
    ),
    "inf - inf": Planted(
        difference_of_infinities, {"x": [1, BIG, 2]}, ("nan", "overflow", "first", [1], "x"),
        wrt="",
        said="difference (Sub) makes NaN at index [1], from first = inf, second = inf: it is "
        "infinity minus infinity",
    ),
    "infinities that are fed": Planted(
        of_both(tf.subtract), {"x": [1, np.inf, 2], "y": [1, np.inf, 2]},
        ("nan", "infinity_minus_infinity", "node", [1], "x"), wrt="",
    ),
    "0 times infinity": Planted(
        of_both(tf.multiply), {"x": [1, 0, 2], "y": [1, np.inf, 2]},
        ("nan", "zero_times_infinity", "node", [1], "y"), wrt="",
    ),
    "overflow of exp": Planted(
        of_x(tf.exp), {"x": [1, BIG, 2]}, ("inf", "overflow", "node", [1], "x"), wrt="",
        said="it overflows",
    ),
    "overflow of a square": Planted(
        overflowing_mean_square, {"x": [1, 2, 1e30]}, ("inf", "overflow", "square", [2], "x"),
        wrt="",
    ),
    "a negative number to a fraction": Planted(
        of_x(tf.pow, 0.5), {"x": [1, -2, 3]}, ("nan", "negative_to_fraction", "node", [1], "x"),
        wrt="",
    ),
    "arccos of 2": Planted(
        of_x(tf.acos), {"x": [0, 0, 2]}, ("nan", "outside_domain", "node", [2], "x"), wrt=""
    ),
    "one over 0, among others": Planted(
        of_x(tf.reciprocal), {"x": [1, -2, 0]}, ("inf", "division_by_zero", "node", [2], "x"),
        wrt="",
    ),
    "gamma at a pole": Planted(
        of_x(tf.lgamma), {"x": [1, 2, -1]}, ("inf", "at_pole", "node", [2], "x"), wrt=""
    ),
    "mean of nothing": Planted(
        lambda b: tf.reduce_mean(b.placeholder("x", shape=[0]), name="loss"),
        {"x": np.zeros(0, np.float32)}, ("nan", "empty", "loss", [], ""), wrt="",
    ),
    "fed NaN": Planted(
        of_x(tf.exp), {"x": [1, np.nan, 2]}, ("nan", "fed", "x", [1], ""), wrt="",
        said="x holds NaN at index [1]: it was fed",
    ),
    "iteration 4": Planted(
        loop(lambda i, a: tf.sqrt(3.5 - i, name="root") + a), {"x": 1},
        ("nan", "root_of_negative", "while/root", [], "while/Sub"), wrt="",
        said="from while/Sub = -0.5, in iteration 5 of while/While",
    ),
    "two makers": Planted(
        two_logs, {"x": [1, 1, 0], "y": [0, 1, 1]}, ("inf", "log_of_zero", "early", [2], "x"),
        wrt="",
    ),
    "several elements, each by something else": Planted(
        two_logs, {"x": [1, -1, 1], "y": [-1, 1, -1]},
        ("nan", "log_of_negative", "early", [1], "x"), wrt="",
    ),
    # -- the value is zero ------------------------------------------------------------------------
    "value of a product": Planted(
        product, {"x": X, "mask": [0, 0, 0]}, ("zero", "zero_factor", "prod", [0], "mask"), wrt=""
    ),
    "value of a product, of which some is zero by both": Planted(
        lambda b: tf.multiply(
            b.placeholder("x", shape=[3]), b.placeholder("mask", shape=[3]), name="loss"
        ),
        {"x": [0, 2, 3], "mask": [0, 0, 0]}, ("zero", "zero_factor", "loss", [1], "mask"), wrt="",
    ),
    "a sum that loses what is small": Planted(
        lambda b: tf.reduce_sum(b.placeholder("x", shape=[3]), name="loss"),
        {"x": [1e8, 1, -1e8]}, ("zero", "cancelled", "loss", [], ""), wrt="",
    ),
    "value of a comparison": Planted(
        lambda b: tf.greater(b.placeholder("x", shape=[2]), 5.0, name="loss"),
        {"x": [1, 2]}, ("zero", "false", "loss", [0], ""), wrt="",
    ),
    "value of a product, of which some is too small": Planted(
        lambda b: tf.multiply(
            b.placeholder("x", shape=[2]), b.placeholder("mask", shape=[2]), name="loss"
        ),
        {"x": [1e-30, 2], "mask": [1e-30, 0]}, ("zero", "zero_factor", "loss", [1], "mask"), wrt="",
    ),
    "value of masked units": Planted(
        masked_units, {"x": [-1, 2, 3], "mask": [0, 0, 0]},
        ("zero", "zero_factor", "masked", [0], "mask"), wrt="",
    ),
    "value of two products": Planted(
        two_layers, {"x": X, "y": X, "mask": [0, 0, 0]},
        ("zero", "zero_factor", "inner", [0], "mask"), wrt="",
    ),
    "value of a difference": Planted(
        of_both(tf.subtract), {"x": X, "y": X}, ("zero", "cancelled", "node", [0], ""), wrt="",
        said="from x = 1, y = 1",
    ),
    "value of a difference of whole numbers": Planted(
        whole(tf.subtract), {"x": WHOLE, "y": WHOLE},
        ("zero", "cancelled", "loss", [0], ""), wrt="",
        said="from x = 1, y = 1: what is added up cancels",
    ),
    "value of a sum of whole numbers": Planted(
        lambda b: tf.reduce_sum(b.placeholder("x", "int32", [2, 2]), 0, name="loss"),
        {"x": np.int32([[1, 1], [-1, -1]])}, ("zero", "cancelled", "loss", [0], ""), wrt="",
    ),
    "value of a product of whole numbers": Planted(
        whole(tf.multiply), {"x": WHOLE * 65536, "y": WHOLE * 65536},
        ("zero", "wrapped", "loss", [0], ""), wrt="", said="too large for int32",
    ),
    "value of a quotient of whole numbers": Planted(
        whole(tf.truncatediv), {"x": WHOLE, "y": WHOLE * 5},
        ("zero", "rounded", "loss", [0], ""), wrt="",
    ),
    "value of a comparison of whole numbers": Planted(
        whole(tf.greater), {"x": WHOLE, "y": WHOLE}, ("zero", "false", "loss", [0], ""), wrt="",
    ),
    "value of a constant": Planted(
        lambda b: tf.multiply(tf.constant([0.0, 0.0]), b.placeholder("x", shape=[2]), name="loss"),
        {"x": [1, 2]}, ("zero", "zero_factor", "loss", [0], "Const"), wrt="",
        said="Const is 0 there; Const is a constant",
    ),
    "value of a remainder": Planted(
        of_both(tf.floormod), {"x": [4, 6, 8], "y": [2, 3, 4]},
        ("zero", "at_zero", "node", [0], ""), wrt="",
    ),
    "value of a matrix product that cancels": Planted(
        lambda b: tf.matmul(
            b.placeholder("x", shape=[1, 2]), b.placeholder("y", shape=[2, 1]), name="loss"
        ),
        {"x": [[1, 2]], "y": [[2], [-1]]}, ("zero", "cancelled", "loss", [0, 0], ""), wrt="",
    ),
    "value of a product of nothing": Planted(
        product, {"x": [0, 0, 0], "mask": [0, 0, 0]}, ("zero", "fed", "x", [0], ""), wrt="",
    ),
    "value of a product that is zero at some places, and too small at others": Planted(
        lambda b: tf.multiply(
            b.placeholder("x", shape=[2]), b.placeholder("y", shape=[2]), name="loss"
        ),
        {"x": [1e-30, 0], "y": [1e-30, 0]}, ("zero", "fed", "x", [1], ""), wrt="",
    ),
    "value of exp": Planted(
        of_x(tf.exp), {"x": [-BIG] * 3}, ("zero", "underflow", "node", [0], ""), wrt=""
    ),
    "value behind a switch": Planted(
        behind_a_switch, {"x": -1, "p": np.array(True)}, ("zero", "inactive", "gate", [], ""),
        wrt="",
    ),
    "value of dead units": Planted(
        dead_unit, {"x": X}, ("zero", "inactive", "relu", [0], ""), wrt=""
    ),
    "a product of small numbers": Planted(
        lambda b: tf.reduce_prod(b.placeholder("x", shape=[3]), name="loss"),
        {"x": [1e-20] * 3}, ("zero", "underflow", "loss", [], ""), wrt="",
    ),
    "rounded": Planted(
        of_x(tf.floor), {"x": [0.5, 0.6, 0.7]}, ("zero", "rounded", "node", [0], ""), wrt=""
    ),
}  # fmt: skip


@each_of("name", PLANTED)
def test_a_planted_cause_is_named(name: str) -> None:
    planted = PLANTED[name]
    graph = graph_of(planted.build)
    if planted.wrt:
        found = why_gradient(graph, "loss", planted.wrt, planted.values, **planted.asked)
    else:
        found = why_value(graph, "loss", planted.values)
    operand = found.chain[0].operand if found.chain else ""
    at = (found.state, found.cause, found.node, found.index, operand)
    assert at == planted.at, found.text
    assert planted.said in found.text
    assert not found.path or found.path[0] == "loss"


def test_there_are_no_less_than_twenty() -> None:
    assert len({(p.at[0], p.at[1]) for p in PLANTED.values()}) >= 20


def test_a_gradient_without_elements_is_not_said_to_be_sound() -> None:
    graph = graph_of(lambda b: loss(tf.exp(b.placeholder("x", shape=[0]))))
    found = why_gradient(graph, "loss", "x", {"x": np.zeros(0, np.float32)})
    assert found.state == "ok"
    assert found.text.startswith("d loss / d x: it is empty")


@pytest.mark.parametrize("wrt", ["x", "mask"])
def test_nothing_is_blamed_where_nothing_is_wrong(wrt: str) -> None:
    values = {"x": X, "mask": [1, 2, 3]}
    found = why_gradient(graph_of(product), "loss", wrt, values)
    assert (found.state, found.cause, found.node, found.chain) == ("ok", "", None, [])
    assert why_value(graph_of(product), "loss", values).text == (
        "loss is finite and not zero: it is 42."
    )
