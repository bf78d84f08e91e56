"""The example of gradients that are too long: clipped by value and by norm."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.document.document import Document
from gradstep.core.ops.build.builder import Tensor
from tests.examples import optimizing
from tests.examples.drawing import Drawing
from tests.examples.expect import equal, value

GROUP = optimizing.GROUP

WAYS = ("as_it_is", "by_value", "by_norm")
LARGEST = 5.0
RATE = 0.03


def gradient_clipping() -> Document:
    """Numbers: TensorFlow 2.21's (`clip_by_value`, `clip_by_norm`)."""
    d = Drawing()
    for scope in WAYS:
        with d.g.scope(scope):
            _clipped(d, scope)
    return d.document(
        "Clipping gradients: by value, by norm",
        f"""
        In a steep valley one gradient step goes too far; clipping shortens it, each kind otherwise.

        The loss is 50·W[0]² + W[1]², so its gradient at [1, 3] is [100, 6]: 100.2 long.

        - **as_it_is**: with the learning rate {RATE} W[0] jumps from side to side, ever further.
        - **by_value**: every element is cut to ±{LARGEST:g}: [5, 5]. Not the way down any more.
        - **by_norm**: the whole is scaled to the length {LARGEST:g}: [4.99, 0.3], the same way.

        1. Press F5 and compare `by_value/clipped` with `by_norm/clipped`.
        2. Press F5 twice more: `as_it_is/W` is at −8, `by_norm/W` comes down.
        """,
        of="",
        fetches=" ".join(f"{scope}/clipped" for scope in WAYS[1:]),
        collapsed=" ".join(f"{scope}/{part}" for scope in WAYS for part in ("valley", "gradients"))
        + " by_norm/norm",
        targets=tuple(f"{scope}/step" for scope in WAYS),
        claim=f"Cutting each element of the gradient to ±{LARGEST:g} makes the step shorter.",
        truth="It also turns it: of [100, 6] remains [5, 5]. Clipping by norm keeps the direction; "
        "with several variables `tf.clip_by_global_norm` takes one factor for all.",
        expectations=(
            value("by_value/clipped", [5.0, 5.0], "By value: another direction."),
            value("by_norm/clipped", [4.9910243, 0.29946145], "By norm: the same, 5 long."),
            equal('norm(x["by_norm/clipped"])', LARGEST, "Its length is 5."),
            value(
                "as_it_is/W", [-8.0, 2.4917520], "Not clipped, W[0] is at −8 after 3 runs.", run=2
            ),
            value("by_norm/W", [0.55117874, 2.9677694], "Clipped by norm it comes down.", run=2),
            value("by_value/W", [0.55, 2.55], "By value W[1] moves just as far as W[0].", run=2),
        ),
    )


def _clipped(d: Drawing, way: str) -> None:
    """A step of gradient descent on 50·W[0]² + W[1]², clipped in that way."""
    g = d.g
    w = d.variable("W", [1.0, 3.0])
    with g.scope("valley"):
        steep = g.constant([50.0, 1.0], name="steepness")
        loss = d.sum(g.one("Mul", steep, g.one("Square", w, name="square"), name="terms"), "loss")
    (slope,) = gradients(loss, w)
    assert isinstance(slope, Tensor)
    if way == "by_value":
        limits = g.constant(-LARGEST, name="least"), g.constant(LARGEST, name="largest")
        slope = g.one("ClipByValue", slope, *limits, name="clipped")
    if way == "by_norm":
        slope = _scaled(d, slope)
    g.one("ApplyGradientDescent", w, g.constant(RATE, name="rate"), slope, name="step")


def _scaled(d: Drawing, slope: Tensor) -> Tensor:
    """slope · largest / max(norm, largest)"""
    g = d.g
    largest = g.constant(LARGEST, name="largest")
    with g.scope("norm"):
        norm = g.one("Sqrt", d.sum(g.one("Square", slope, name="square"), "sum"), name="norm")
        least = g.one("Maximum", norm, largest, name="at_least_largest")
        factor = g.one("RealDiv", largest, least, name="factor")
    return g.one("Mul", slope, factor, name="clipped")


EXAMPLES = (gradient_clipping,)
