"""Examples of learning through steps: floor, and a mask drawn at random."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.expectation import Variation
from tests.examples import overrides
from tests.examples.drawing import Drawing, override_op, override_type
from tests.examples.expect import equal, fails, gradient, holds, value
from tests.support.oracle import array, case

GROUP = overrides.GROUP


def floor_identity() -> Document:
    d = Drawing()
    x, target = d.variable("x", [0.3, 1.7, -0.6]), d.fed("target", [0.5, 1, -0.5])
    levels = d.g.constant(4.0, name="levels")
    scaled = d.g.one("Mul", x, levels, name="scaled")
    y = d.g.one("RealDiv", d.g.one("Floor", scaled, name="rounded"), levels, name="y")
    error = d.g.one("Sub", y, target, name="error")
    d.sum(d.g.one("Square", error, name="square"), "loss")
    off = Variation(overrides=False)
    return d.document(
        "Floor, with the gradient of Identity",
        """
        Floor is flat, so nothing is learned through it, unless Identity lends it a gradient.

        An override by type gives every Floor the gradient of Identity (the straight-through
        estimator): `x` learns, although Ctrl+K rightly says that this is not the derivative.

        1. Press F5 eight times and watch `loss`: it falls from 0.375 to 0.06 and below.
        2. In the toolbar, click override: Floor → Identity to switch it off: the gradient of `x`
        is None, and the runs train nothing.
        """,
        {
            "x": (0, 0),
            "levels": (0, 136),
            "target": (632, 176),
            "scaled": (216, 48),
            "rounded": (424, 48),
            "y": (632, 72),
            "error": (840, 104),
            "square": (1048, 104),
            "axes": (1048, 208),
            "loss": (1256, 128),
        },
        of="loss",
        wrt="x",
        fetches="loss",
        request={"overrides": (override_type("Identity", "Floor"),)},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
        claim="An override counts in compute_gradients and apply_gradients alone: minimize takes "
        "the native gradient.",
        truth="minimize calls both. This document trains by minimize, and x learns.",
        expectations=(
            value("loss", 0.375, "The first loss."),
            gradient("x", [-0.5, 1.0, -0.5], "x gets 2·error, as if floor were not there."),
            fails(
                "",
                "ValueError",
                "No gradients provided",
                "Without it nothing can be trained.",
                when=off,
            ),
            holds('x["loss"] <= 0.0625', "After eight runs little is left of the loss.", run=7),
        ),
    )


def straight_through() -> Document:
    """Numbers: TensorFlow's, `floor_compute_gradient_error` (the first three of seven)."""

    def recorded(way: str) -> np.ndarray:
        return array(case("floor_compute_gradient_error")[way]["analytic tf.gradients row0"])[:3]

    d = Drawing()
    for scope in ("plain", "detour", "right"):
        with d.g.scope(scope):
            _rounded(d, scope)
    return d.document(
        "Straight through Floor: wrong and right",
        """
        Three ways to learn through floor, which is flat: all have its value, one has a gradient.

        - **plain**: floor has no gradient (None).
        - **detour**: v − (v − floor v) is floor v again. Its gradient is 1 − 1 = 0: a number, but
        nothing is learned from it.
        - **right**: v + stop_gradient(floor v − v) has the same value, and the gradient 1.

        Press F5 and look at the gradients of `plain/v`, `detour/v` and `right/v`.
        """,
        """
        plain/v plain/floor . . . plain/loss
        . . . . plain/axes

        detour/v detour/floor detour/rest . detour/y detour/loss
        . . . . detour/axes

        right/v right/floor right/rest right/stopped right/y right/loss
        . . . . right/axes
        """,
        of="plain/loss detour/loss right/loss",
        wrt="plain/v detour/v right/v",
        fetches="plain/floor detour/y right/y",
        claim="v − (v − floor(v)) is floor with a gradient: a straight-through estimator.",
        truth="Its gradient is 1 − 1 = 0. The part in brackets must be stopped: v + "
        "stop_gradient(floor(v) − v) has the gradient 1.",
        expectations=(
            value("detour/y", [0.0, 1.0, -1.0], "The detour has the value of floor."),
            value("right/y", [0.0, 1.0, -1.0], "So has the right way."),
            gradient("plain/v", None, "Floor has no gradient: None."),
            gradient("detour/v", recorded("detour"), "The detour's gradient is zero."),
            gradient("right/v", recorded("ste"), "The right way's gradient is one."),
        ),
    )


def _rounded(d: Drawing, way: str) -> None:
    v = d.variable("v", [0.5, 1.2, -0.7])
    floor = d.g.one("Floor", v, name="floor")
    if way == "detour":
        rest = d.g.one("Sub", v, floor, name="rest")
        floor = d.g.one("Sub", v, rest, name="y")
    if way == "right":
        rest = d.g.one("Sub", floor, v, name="rest")
        stopped = d.g.one("StopGradient", rest, name="stopped")
        floor = d.g.one("AddV2", v, stopped, name="y")
    d.sum(floor, "loss")


BERNOULLI = "def sample(p, fmap, u):\n    return (u < p).astype(p.dtype)\n"
MASKED = "def masked(p, fmap, u):\n    return (u < p).astype(p.dtype) * fmap\n"


def bernoulli_mask() -> Document:
    """Numbers: TensorFlow's, `bernoulli_custom_grad` (float32)."""

    def seen(way: str) -> np.ndarray:
        return array(case("bernoulli_custom_grad")["float32"][way]["dp"])

    d = Drawing()
    d.gradient("PassOn", "def backprop(op, grad):\n    return (grad, None, None)\n")
    d.gradient(
        "TimesFmap", "def backprop(op, grad):\n    return (op.inputs[1] * grad, None, None)\n"
    )
    for scope in ("right", "article", "in_one"):
        with d.g.scope(scope):
            _masked(d, in_one=scope == "in_one")
    return d.document(
        "A random mask: a factor that counts twice",
        """
        A mask drawn at random has no gradient of its own; the one it is given must not overlap.

        mask is 1 where u < p, else 0; the draw u is fed, so that every run gives the same numbers.

        - **right**: mask passes grad on to p.
        - **article**: mask returns fmap·grad; but the product behind it has multiplied by fmap
        already, so that fmap counts twice.
        - **in_one**: mask and product are one operation, and there fmap·grad is right.

        Press F5 and compare the gradients of `right/p`, `article/p` and `in_one/p`.
        """,
        """
        right/p right/mask right/out right/error right/square right/loss
        right/fmap . right/target . right/axes
        right/u

        article/p article/mask article/out article/error article/square article/loss
        article/fmap . article/target . article/axes
        article/u

        in_one/p in_one/out . in_one/error in_one/square in_one/loss
        in_one/fmap . in_one/target . in_one/axes
        in_one/u
        """,
        of="right/loss article/loss in_one/loss",
        wrt="right/p article/p in_one/p",
        request={
            "overrides": (
                override_op("PassOn", "right/mask"),
                override_op("TimesFmap", "article/mask"),
                override_op("TimesFmap", "in_one/out"),
            )
        },
        fetches="right/out article/out in_one/out",
        claim="The gradient of the mask is the feature map times grad.",
        truth="The product mask·fmap behind it gives the factor fmap already. It belongs into the "
        "mask's gradient only where the operation computes mask·fmap itself.",
        expectations=(
            equal('x["in_one/out"]', 'x["right/out"]', "All three have the same values."),
            gradient("right/p", seen("ste_identity"), "Straight through: fmap·dL/dout."),
            gradient("article/p", seen("tutorial_fmap_times_grad"), "The article: fmap²·dL/dout."),
            gradient("in_one/p", seen("product_in_op"), "One operation: fmap·dL/dout again."),
        ),
    )


def _masked(d: Drawing, in_one: bool) -> None:
    given = case("bernoulli_custom_grad")["inputs"]
    p = d.variable("p", array(given["p"]))
    fmap, u = d.fed("fmap", array(given["fmap"])), d.fed("u", array(given["u (uniform draw, fed)"]))
    if in_one:
        out = d.python("masked", MASKED, p, fmap, u, name="out")
    else:
        mask = d.python("sample", BERNOULLI, p, fmap, u, name="mask")
        out = d.g.one("Mul", mask, fmap, name="out")
    error = d.g.one("Sub", out, d.fed("target", array(given["target"])), name="error")
    d.sum(d.g.one("Square", error, name="square"), "loss")


EXAMPLES = (floor_identity, straight_through, bernoulli_mask)
