"""Examples of losses: of centers, focal, perceptual, and the surrogate of policy gradients."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing
from tests.examples.expect import Comparing, equal, gradient, value
from tests.support.oracle import array, case

GROUP = "Losses"


def center_loss() -> Document:
    """Numbers: TensorFlow's, `center_loss` (float32, facenet)."""
    inputs, seen = case("center_loss")["inputs"], case("center_loss")["float32"]
    d = Drawing()
    features = d.variable("features", array(inputs["features"]))
    labels = d.fed("labels", array(inputs["labels"]), "int32")
    for scope in ("forgotten", "updated"):
        with d.g.scope(scope):
            _centers(d, features, labels)
    half: Comparing = {"rtol": 2e-6}
    return d.document(
        "Center loss: who moves the centers?",
        """
        Features are pulled to the center of their class, and the centers follow in an update.

        The update is an operation of its own, scatter_sub, and not part of the loss: in
        **forgotten** nobody runs it, and the centers stay at 0. In **updated** it is a target of
        the run. Class 1 occurs three times in `labels`: its three rows add up.

        Press F5 and look at `forgotten/centers` and `updated/centers`.
        """,
        of="forgotten/loss updated/loss",
        wrt="features forgotten/centers",
        fetches="updated/loss",
        collapsed="forgotten/update updated/update",
        targets=("updated/move",),
        claim="The centers are learned along with the network.",
        truth="Only if the run also asks for the update: minimizing the loss does not.",
        expectations=(
            value("updated/loss", array(seen["facenet"]["steps"][0]["loss_before"]), "At first."),
            value(
                "updated/loss",
                array(seen["facenet"]["steps"][2]["loss_before"]),
                "In run 3.",
                run=2,
            ),
            value(
                "updated/centers",
                array(seen["facenet"]["centers_after_3"]),
                "After three runs the centers have moved.",
                run=2,
                **half,
            ),
            value(
                "forgotten/centers",
                array(seen["update_not_fetched"]["centers"]),
                "Where nobody asks for the update they have not.",
                run=2,
            ),
            gradient(
                "forgotten/centers",
                array(seen["dloss_dcenters_dense"]),
                "The gradient of the centers adds up the rows of each class.",
            ),
        ),
    )


def _centers(d: Drawing, features: Tensor, labels: Tensor) -> None:
    g = d.g
    centers = d.variable("centers", np.zeros((4, 3)))
    axis = g.constant(0, "int32", name="axis")
    own = g.one("GatherV2", centers, labels, axis, name="own")
    square = g.one("Square", g.one("Sub", features, own, name="apart"), name="square")
    g.one("Mul", d.sum(square, "total"), g.constant(0.5, name="half"), name="loss")
    with g.scope("update"):
        back = g.one("Sub", own, features, name="back")
        step = g.one("Mul", back, g.constant(0.5, name="rate"), name="step")
    g.one("ScatterSub", centers, labels, step, name="move")


def focal_loss() -> Document:
    """Numbers: TensorFlow 2.21's for this graph."""
    d = Drawing()
    labels = d.fed("labels", [1, 1, 1, 0])
    for scope, gamma in (("cross_entropy", 0.0), ("focal", 2.0)):
        with d.g.scope(scope):
            _focal(d, labels, gamma)
    return d.document(
        "Focal loss: less of what is easy",
        """
        Cross-entropy, weighted by (1 − p)²: examples that are right already hardly count.

        p is the probability of the right answer. The logits 4, 1, −1 and −4 are three examples of
        class 1, from easy to hard, and an easy one of class 0.

        Press F5 and compare the gradients of `cross_entropy/logits` and `focal/logits`: for the
        easy examples the focal one is a thousand times smaller, for the hard one it is not.
        """,
        of="cross_entropy/loss focal/loss",
        wrt="cross_entropy/logits focal/logits",
        fetches="cross_entropy/of_label/p focal/loss",
        collapsed="cross_entropy/of_label focal/of_label",
        expectations=(
            gradient("cross_entropy/logits", _FOCAL[0], "Cross-entropy: p − label."),
            gradient("focal/logits", _FOCAL[1], "Focal: the easy ones nearly vanish.", atol=1e-9),
        ),
    )


_FOCAL = (
    [-0.01798624, -0.2689414, -0.7310586, 0.01798621],
    [-1.7350612e-05, -0.052581117, -0.7682348, 1.7350586e-05],
)


def _focal(d: Drawing, labels: Tensor, gamma: float) -> None:
    """sum of −(1 − p)^gamma · log p, where p is the probability of the label."""
    g = d.g
    logits = d.variable("logits", [4.0, 1.0, -1.0, -4.0])
    one = g.constant(1.0, name="one")
    with g.scope("of_label"):
        yes = g.one("Sigmoid", logits, name="sigmoid")
        no = g.one("Sub", one, yes, name="no")
        is_yes = g.one("Greater", labels, g.constant(0.5, name="middle"), name="is_yes")
        p = g.one("Select", is_yes, yes, no, name="p")
    log = g.one("Log", p, name="log_p")
    if gamma:
        rest = g.one("Sub", one, p, name="one_minus_p")
        power = g.constant(gamma, name="gamma")
        log = g.one("Mul", log, g.one("Pow", rest, power, name="weight"), name="weighted")
    d.sum(g.one("Neg", log, name="each"), "loss")


def perceptual_loss() -> Document:
    """Numbers: TensorFlow's, `perceptual_loss`."""
    seen = case("perceptual_loss")
    inputs = {name: array(value) for name, value in seen["inputs"].items()}
    d = Drawing()
    image = d.variable("image", inputs["image"])
    target = d.fed("target", inputs["target"])
    with d.g.scope("vgg"):
        kernels = d.variable("kernel_1", inputs["k1"]), d.variable("kernel_2", inputs["k2"])
    got = _features(d, image, kernels, "features_of_image")
    wanted = _features(d, target, kernels, "features_of_target")
    stopped = d.g.one("StopGradient", wanted, name="stopped")
    error = d.g.one("Sub", got, stopped, name="error")
    d.mean(d.g.one("Square", error, name="square"), "loss")
    return d.document(
        "Perceptual loss: learning a picture",
        """
        The picture is what learns here: its features come closer to those of another picture.

        Both go through the same network (`vgg/kernel_1` and `vgg/kernel_2`), which must stay as it
        is: the optimizer gets only `image` (var_list). Else it would train the network, too,
        since its kernels are variables.

        Press F5 a few times and watch `loss`; select a box and press H to open it.
        """,
        of="loss",
        wrt="image",
        collapsed="features_of_image features_of_target",
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 1.0}),),
        expectations=(
            value("loss", array(seen["loss0"]), "The loss at first."),
            gradient("image", array(seen["dloss_dimage"]), "The gradient of every pixel."),
            value("loss", array(seen["loss_after_each_step"])[2], "After three steps.", run=3),
            value("vgg/kernel_1", inputs["k1"], "The network has not learned.", run=3),
        ),
    )


def _features(d: Drawing, x: Tensor, kernels: tuple[Tensor, Tensor], scope: str) -> Tensor:
    g = d.g
    same = {"strides": (1, 1, 1, 1), "padding": "SAME"}
    two = (1, 2, 2, 1)
    with g.scope(scope):
        found = g.one("Conv2D", x, kernels[0], name="convolution_1", **same)
        relu = g.one("Relu", found, name="relu_1")
        pool = g.one("MaxPool", relu, name="pool", ksize=two, strides=two, padding="SAME")
        found = g.one("Conv2D", pool, kernels[1], name="convolution_2", **same)
        return g.one("Relu", found, name="relu_2")


def policy_gradient() -> Document:
    """Numbers: TensorFlow's, `policy_gradient_surrogate`."""
    seen = case("policy_gradient_surrogate")
    inputs = {name: array(value) for name, value in seen["inputs"].items()}
    d = Drawing()
    given = (
        d.fed("states", inputs["x"], "float64"),
        d.fed("actions", np.stack([np.arange(5), inputs["act"]], 1), "int32"),
        d.fed("advantages", inputs["adv"], "float64"),
    )
    old = d.fed("old_log_p", inputs["logli_old"], "float64")
    for scope in ("surrogate", "stopped", "forgotten"):
        with d.g.scope(scope):
            log_p = _log_probability(d, inputs["theta"], *given[:2])
            before = {"surrogate": old, "forgotten": log_p}.get(scope)
            if before is None:
                before = d.g.one("StopGradient", log_p, name="stop")
            _surrogate(d, log_p, before, given[2])
    trap = seen["trap: old logli taken from the same graph tensor"]
    return d.document(
        "The surrogate loss of policy gradients",
        """
        −mean(exp(log p − log p_old)·advantage): p_old must be a number, not the policy itself.

        - **surrogate**: log p_old was recorded when the actions were taken, and is fed.
        - **stopped**: log p_old is the policy's own log p behind stop_gradient: right while the
        policy has not changed.
        - **forgotten**: the same without the stop. The ratio is 1 whatever the policy is, and the
        gradient exactly 0.

        Press F5 and compare the gradients of the three theta.
        """,
        of="surrogate/loss stopped/loss forgotten/loss",
        wrt="surrogate/theta stopped/theta forgotten/theta",
        fetches="surrogate/ratio forgotten/ratio",
        collapsed="surrogate/policy stopped/policy forgotten/policy",
        expectations=(
            value("surrogate/loss", array(seen["off-policy"]["loss"]), "The surrogate's value."),
            gradient("surrogate/theta", array(seen["off-policy"]["grad"]), "With log p_old fed."),
            gradient("stopped/theta", array(trap["fix: stop_gradient(logli)"]), "With a stop."),
            gradient("forgotten/theta", array(trap["grad"]), "Without it: zero."),
            equal('x["forgotten/ratio"]', 1.0, "The ratio is 1 there, always."),
        ),
    )


def _log_probability(d: Drawing, theta: np.ndarray, states: Tensor, actions: Tensor) -> Tensor:
    weights = d.variable("theta", theta, "float64")
    with d.g.scope("policy"):
        logits = d.g.one("MatMul", states, weights, name="logits")
        return d.g.one("GatherNd", d.g.one("LogSoftmax", logits, name="all"), actions, name="log_p")


def _surrogate(d: Drawing, log_p: Tensor, before: Tensor, advantages: Tensor) -> None:
    g = d.g
    ratio = g.one("Exp", g.one("Sub", log_p, before, name="difference"), name="ratio")
    gain = d.mean(g.one("Mul", ratio, advantages, name="weighted"), "gain")
    g.one("Neg", gain, name="loss")


EXAMPLES = (center_loss, focal_loss, perceptual_loss, policy_gradient)
