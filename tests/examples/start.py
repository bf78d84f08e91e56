"""The first examples to read: the tutorial's network, and one document for each of four ideas."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import NATIVE_OP_TYPE
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.expectation import Variation
from gradstep.core.graph.model import Constant, Edge
from tests.examples.drawing import Drawing, Places, override_op
from tests.examples.expect import different, fails, gradient, holds, none, value
from tests.support.oracle import array, case

GROUP = "Start here"

NETWORK: Places = {
    "data": (0, 0), "c": (0, 184), "k": (0, 360), "labels": (0, 472),
    "d": (216, 80), "e": (424, 280), "a": (632, 192), "loss": (840, 192),
}  # fmt: skip
ADAM = Optimizer("Adam", {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 0.1})


ARTICLE_BACKPROP = """\
def backprop(op, grad):
    c, k, d = op.inputs
    e = c + k
    return ((e + d) * grad, d * grad, e * grad)
"""
FORWARD = "def forward(c, k, d):\n    return c + k\n"


def tutorial() -> Document:
    """Numbers: TensorFlow's, `override_custom_add_claim` (native/float32)."""
    d = Drawing()
    network(d)
    seen = case("override_custom_add_claim")["results"]["native/float32"]
    return d.document(
        "The tutorial network",
        """
        A small network, its gradients and one step of Adam, an operation at a time. `d` = `data` +
        `c`, `e` = `c` + `k`, `a` = `d` · `e`, then softmax cross-entropy.

        1. Press F10 to step: first forward, then through the gradients, then the update.
        2. Press Shift+F10 to step back.
        3. `c` reaches the loss by two paths, through `d` and through `e`. Watch its gradient (the
        row ∂) become the sum of both.
        """,
        NETWORK,
        of="loss",
        wrt="c k",
        fetches="loss",
        optimizers=(ADAM,),
        expectations=(
            value("loss", array(seen["loss"]), "The loss of the first run is 0.6637."),
            gradient("c", array(seen["dL_dc"]), "c gets (d + e)·dL/da: the sum over two paths."),
            gradient("k", array(seen["dL_dk"]), "k gets d·dL/da: one path."),
            value(
                "c",
                array(seen["adam_after_step_1_2_3"][2]["c"]),
                "Three steps of Adam take c to where TensorFlow's take it.",
                run=2,
            ),
        ),
    )


def override_add() -> Document:
    """Numbers: TensorFlow's, `override_custom_add_claim` (tutorial/float32, native/float32)."""
    d = Drawing()
    d.gradient("CustomAdd", ARTICLE_BACKPROP)
    network(d, python=True)
    seen = case("override_custom_add_claim")["results"]
    native, article = seen["native/float32"], seen["tutorial/float32"]
    off = Variation(overrides=False)
    return d.document(
        "An override that is not the gradient",
        """
        The tutorial's network, with a gradient for `e` that a well-known article proposes.

        1. Press Ctrl+K and look at **Gradients**: the numeric ones support the native ones, not
        the override.
        2. What arrives at `e` is dL/de, which holds the factor `d` already; the override
        multiplies by `d` once more. Select `e` and press F9; then F5 stops there going forward,
        and F5 again going back, where the inspector shows what arrives.
        3. In the toolbar, click override: e → CustomAdd to switch it off, and compare.
        """,
        NETWORK,
        of="loss",
        wrt="c k",
        fetches="loss",
        request={"overrides": (override_op("CustomAdd", "e"),)},
        optimizers=(ADAM,),
        claim="Overriding the gradient of `e = c + k` by `((e + d)·grad, d·grad, e·grad)` gives "
        "the same result as the native gradient.",
        truth="It gives another one: `grad` is dL/de = d·dL/da, so `d` counts twice. The right "
        "override returns `(grad, grad, None)`.",
        expectations=(
            value("loss", array(native["loss"]), "An override does not change the forward pass."),
            gradient(
                "c", array(article["dL_dc"]), "With the override, c gets (d² + 2de + e)·dL/da."
            ),
            gradient("k", array(article["dL_dk"]), "With the override, k gets d²·dL/da."),
            gradient("c", array(native["dL_dc"]), "Switched off, c gets (d + e)·dL/da.", when=off),
            gradient("k", array(native["dL_dk"]), "Switched off, k gets d·dL/da.", when=off),
            different('grad["c"]', array(native["dL_dc"]), "The two are not the same."),
            value(
                "c",
                array(article["adam_after_step_1_2_3"][2]["c"]),
                "minimize takes the overridden gradient, too: three steps of Adam go by it.",
                run=2,
            ),
        ),
    )


def network(d: Drawing, python: bool = False) -> None:
    """python: `e` is a Python function that adds, and may have a gradient of its own."""
    data, labels = d.fed("data", [1, 2]), d.fed("labels", [0, 1])
    c, k = d.variable("c", [0.06, -0.04]), d.variable("k", [0.05, 0.13])
    first = d.g.one("AddV2", data, c, name="d")
    if python:
        e = d.python("custom_add", FORWARD, c, k, first, name="e", **{NATIVE_OP_TYPE: "AddV2"})
    else:
        e = d.g.one("AddV2", c, k, name="e")
    a = d.g.one("Mul", first, e, name="a")
    d.g.op("SoftmaxCrossEntropyWithLogits", a, labels, name="loss")


def stop_gradient() -> Document:
    d = Drawing()
    x, target = d.fed("x", [1, 2]), d.fed("target", [1, 1])
    w1, w2 = d.variable("w1", [0.5, -0.25]), d.variable("w2", [1.5, 2])
    h = d.g.one("Mul", x, w1, name="h")
    r = d.g.one("Relu", h, name="r")
    y = d.g.one("Mul", r, w2, name="y")
    error = d.g.one("Sub", y, target, name="error")
    d.sum(d.g.one("Square", error, name="square"), "loss")
    opened = Variation(stops=False)
    return d.document(
        "A stopped wire",
        """
        Nothing flows back over the wire from r to y, so w1 has no gradient at all.

        1. Press F5. `w1` has no gradient (None, which is not zero) and keeps its value; `w2` learns
        as before.
        2. Select the wire (it bears a bar) and press S to open it again: now `w1` gets a gradient.
        Its second element is zero, because `r` (Relu) is off there.
        """,
        {
            "x": (0, 0),
            "w1": (0, 112),
            "w2": (216, 192),
            "target": (632, 192),
            "h": (216, 56),
            "r": (424, 56),
            "y": (632, 80),
            "error": (840, 112),
            "square": (1048, 112),
            "axes": (1048, 216),
            "loss": (1256, 136),
        },
        of="loss",
        wrt="w1 w2",
        fetches="loss",
        request={"stopped_edges": frozenset({Edge("y", 0)})},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
        expectations=(
            none('grad["w1"]', "w1 has no gradient: None, which is not zero."),
            gradient("w2", [2 * (0.75 - 1) * 0.5, 0], "w2 gets 2·error·r, as without the stop."),
            value("w1", [0.5, -0.25], "w1 keeps its value, however long you train.", run=4),
            gradient("w1", [-0.75, 0], "Opened again, w1[1] gets zero from Relu.", when=opened),
        ),
    )


def gather() -> Document:
    """Numbers: TensorFlow's, `gather_out_of_range_cpu`; for the GPU its documentation's
    (`gather_gpu_documentation`)."""
    d = Drawing()
    params = d.fed("params", [1, 2, 3, 4, 5])
    indices = d.fed("indices", [0, 1, 6], "int32")
    axis = d.g.constant(0, "int32", name="axis")
    d.g.one("GatherV2", params, indices, axis, name="b")
    inside = {"indices:0": Constant(np.array([0, 1, 4], np.int32))}
    return d.document(
        "Gather out of range",
        """
        The third index is 6, and params has 5 elements: what happens depends on the device.

        | where | b |
        |---|---|
        | TensorFlow, CPU | an error |
        | TensorFlow, GPU | [1, 2, 0] |
        | CuPy | wraps around: [1, 2, 2] |
        | JAX, XLA | clamp: [1, 2, 5] |

        1. Press F5: the CPU stops with an error.
        2. Choose one under Devices > Compare with: **Device diff** has both, node by node. What is
        not here is imitated by its documented rules, and says so.
        """,
        {"params": (0, 0), "indices": (0, 112), "axis": (0, 224), "b": (216, 112)},
        of="b",
        wrt="params",
        fetches="b",
        expectations=(
            fails(
                "b",
                "InvalidArgumentError",
                "indices[2] = 6 is not in [0, 5)",
                "On the CPU it is an error.",
            ),
            *(
                value("b", expected, f"{name} gives {expected}.", when=Variation(device=device))
                for name, device, expected in (
                    ("TensorFlow on a GPU (emulated)", "emulate:tf-gpu", [1.0, 2.0, 0.0]),
                    ("CuPy (emulated)", "emulate:cupy", [1.0, 2.0, 2.0]),
                    ("JAX (emulated)", "emulate:jax", [1.0, 2.0, 5.0]),
                    ("XLA (emulated)", "emulate:tf-xla", [1.0, 2.0, 5.0]),
                )
            ),
            value("b", [1.0, 2.0, 5.0], "In range it works everywhere.", when=Variation(inside)),
        ),
    )


def nan_gradient() -> Document:
    d = Drawing()
    p = d.variable("p", [0, 0.25, 0.75])
    zero = d.g.constant(np.zeros(3, np.float32), name="zero")
    logp = d.g.one("Log", p, name="logp")
    positive = d.g.one("Greater", p, zero, name="positive")
    safe = d.g.one("Select", positive, logp, zero, name="safe")
    d.sum(d.g.one("Mul", p, safe, name="term"), "loss")
    slope = np.log([0.25, 0.75]) + 1
    return d.document(
        "A gradient that is not a number",
        """
        The value is finite, because Select takes the zero instead of log(0); the gradient is NaN.

        1. Press F5. The loss is finite, but the first element of the gradient of `p` is NaN: Select
        passes 0 back to Log, whose derivative at 0 is infinite, and 0 times infinity is not a
        number.
        2. Press Shift+F10 until the NaN is gone: the step that made it is the gradient of `logp`.
        3. The cure is to change what Log sees: select before it, not behind it. (The example
        *where(x > 0, f(x), 0)* does so.)
        """,
        {
            "p": (0, 96),
            "zero": (0, 208),
            "logp": (216, 0),
            "positive": (216, 152),
            "safe": (424, 96),
            "term": (632, 96),
            "axes": (632, 208),
            "loss": (840, 120),
        },
        of="loss",
        wrt="p",
        fetches="loss",
        expectations=(
            value("loss", -0.5623351, "The value is finite."),
            gradient("p", [float("nan"), *slope], "The gradient is NaN where p is 0."),
            holds('x["logp"] <= 0', "Log itself gives minus infinity there, which is no NaN."),
        ),
    )


EXAMPLES = (tutorial, override_add, stop_gradient, gather, nan_gradient)
