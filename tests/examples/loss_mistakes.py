"""Examples of losses that run and are not what they seem: by hand, twice, of another shape."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops.build.builder import Tensor
from tests.examples import losses
from tests.examples.drawing import Drawing
from tests.examples.expect import equal, gradient, holds, value

GROUP = losses.GROUP

NAN = float("nan")


def softmax_by_hand() -> Document:
    """Numbers: TensorFlow 2.21's for this graph."""
    d = Drawing()
    labels = d.fed("labels", [[1, 0, 0], [0, 1, 0]])
    for scope in ("by_hand", "fused", "twice"):
        with d.g.scope(scope):
            _cross_entropy(d, labels, scope)
    return d.document(
        "Cross-entropy: by hand, fused, twice",
        """
        The same loss written down in three ways; one gives NaN, and one hardly learns.

        The second example is wrong, and sure of it: logits 200, 0, 0 where the label is class 1.

        - **by_hand**: −Σ label·log(softmax). There softmax is 0 in float32, log 0 is −∞, and 0·−∞
        is NaN: the loss, and every gradient of that row.
        - **fused**: softmax_cross_entropy_with_logits on the logits. The loss is 200, the gradient
        p − label.
        - **twice**: the same operation on what softmax gives. It takes p for logits: the loss
        stays between 0.55 and 1.55, and the gradient of a sure mistake is 0.

        Press F5 and compare `by_hand/each`, `fused/each` and `twice/each`, then the gradients of
        the three logits.
        """,
        """
        . . labels

        by_hand/logits by_hand/p by_hand/log_p by_hand/terms by_hand/sum by_hand/each by_hand/loss
        . . . by_hand/classes . by_hand/axes

        fused/logits . . . . fused/each fused/loss
        . . . . . fused/axes

        twice/logits twice/p . . . twice/each twice/loss
        . . . . . twice/axes
        """,
        of="by_hand/loss fused/loss twice/loss",
        wrt="by_hand/logits fused/logits twice/logits",
        fetches="by_hand/each fused/each twice/each",
        claim="Softmax, and then cross-entropy, is softmax_cross_entropy_with_logits.",
        truth="Only on paper: in float32 a softmax may be 0, and its log infinite. And where the "
        "last layer is a softmax already, …_with_logits applies it twice.",
        expectations=(
            value("by_hand/each", [0.40760595, NAN], "By hand the sure mistake costs NaN,"),
            gradient(
                "by_hand/logits",
                [[-0.33475912, 0.24472848, 0.09003057], [NAN] * 3],
                "and so is its gradient.",
            ),
            value("fused/each", [0.40760595, 200.0], "Fused it costs 200."),
            gradient(
                "fused/logits",
                [[-0.33475912, 0.24472848, 0.09003057], [1.0, -1.0, 0.0]],
                "Its gradient is p − label.",
            ),
            value("twice/each", TWICE["each"], "Twice: no mistake costs more than 1.55."),
            gradient("twice/logits", TWICE["gradient"], "The sure mistake has no gradient."),
        ),
    )


TWICE = {
    "each": [0.79718995, 1.5514448],
    "gradient": [[-0.18570792, 0.13855484, 0.04715312], [0.0, 0.0, 0.0]],
}


def _cross_entropy(d: Drawing, labels: Tensor, way: str) -> None:
    g = d.g
    logits = d.variable("logits", [[2, 1, 0], [200, 0, 0]])
    p = logits if way == "fused" else g.one("Softmax", logits, name="p")
    if way == "by_hand":
        terms = g.one("Mul", labels, g.one("Log", p, name="log_p"), name="terms")
        classes = g.constant(1, "int32", name="classes")
        each = g.one("Neg", g.one("Sum", terms, classes, name="sum"), name="each")
    else:
        each = g.op("SoftmaxCrossEntropyWithLogits", p, labels, name="each")[0]
    d.sum(each, "loss")


def wrong_shape() -> Document:
    """Numbers: the means are exact; the steps TensorFlow 2.21's."""
    d = Drawing()
    x = d.fed("x", [[0], [1], [2], [3]])
    labels = np.array([1.0, 3.0, 5.0, 7.0])
    for scope, given in (("right", labels[:, None]), ("wrong", labels)):
        with d.g.scope(scope):
            _line(d, x, given)
    return d.document(
        "Broadcasting: a loss of the wrong shape",
        """
        [4, 1] − [4] is [4, 4]: each prediction is compared with every label, without an error.

        A line is fitted to (0, 1), (1, 3), (2, 5), (3, 7). In **right** the labels have the shape
        [4, 1], as the predictions; in **wrong** they have [4].

        1. Press F5 and look at `right/error` and `wrong/error`: four numbers, and sixteen.
        2. `right/b` is one number that is added to four rows. So its gradient is the sum of the
        rows' gradients: what broadcasts forward adds up backward.
        3. Press F5 some more: `right/loss` falls to 0. `wrong/loss` stays above 5: there
        the best line is the mean of all labels, w = 0 and b = 4.
        """,
        """
        . right/w right/product right/y right/error right/square right/loss
        . . right/b right/labels . right/axes
        x

        . wrong/w wrong/product wrong/y wrong/error wrong/square wrong/loss
        . . wrong/b wrong/labels . wrong/axes
        """,
        of="right/loss wrong/loss",
        wrt="right/w right/b wrong/w wrong/b",
        fetches="right/loss wrong/loss",
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
        claim="reduce_mean(square(prediction − labels)) is the mean squared error.",
        truth="Only where both have the same shape. Otherwise they broadcast, and what is learned "
        "is the mean of the labels.",
        expectations=(
            equal('shape(x["right/error"])', [4, 1], "An error for each row,"),
            equal('shape(x["wrong/error"])', [4, 4], "or for each pair."),
            equal(
                'grad["right/b"]',
                'sum(grad["right/y"])',
                "What broadcasts forward adds up backward.",
            ),
            value("right/loss", 21.0, "Both start from the same error, as a mean of squares,"),
            value("wrong/loss", 21.0, "so that nothing looks wrong."),
            holds('x["right/loss"] < 0.001', "After 100 runs the line is found.", run=99),
            value("wrong/loss", 5.0, "The wrong loss stays at 5.", run=99, rtol=1e-3),
            holds('abs(x["wrong/w"]) < 0.02', "It has learned no slope,", run=99),
            value("wrong/b", 4.0, "and the mean of the labels.", run=99, rtol=1e-2),
        ),
    )


def _line(d: Drawing, x: Tensor, labels: np.ndarray) -> None:
    g = d.g
    w, b = d.variable("w", [[0.0]]), d.variable("b", [0.0])
    y = g.one("AddV2", g.one("MatMul", x, w, name="product"), b, name="y")
    error = g.one("Sub", y, d.fed("labels", labels), name="error")
    d.mean(g.one("Square", error, name="square"), "loss")


EXAMPLES = (softmax_by_hand, wrong_shape)
