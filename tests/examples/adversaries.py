"""The example of two networks whose losses pull at the same weights: a GAN."""

from __future__ import annotations

from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Variation
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import Tensor
from tests.examples import stops
from tests.examples.drawing import Drawing
from tests.examples.expect import gradient, holds, value
from tests.examples.optimizing import minimizing

GROUP = stops.GROUP

GENERATOR, DISCRIMINATOR = "generator/w generator/b", "discriminator/v discriminator/c"


def gan() -> Document:
    """Numbers: TensorFlow 2.21's for this graph."""
    d = Drawing()
    z, real = d.fed("z", [-1.0, 0.0, 1.0, 2.0]), d.fed("real", [3.0, 4.0, 5.0, 4.5])
    with d.g.scope("generator"):
        w, b = d.variable("w", 0.5), d.variable("b", 0.0)
        fake = d.g.one("AddV2", d.g.one("Mul", z, w, name="product"), b, name="fake")
    with d.g.scope("discriminator"):
        v, c = d.variable("v", 0.8), d.variable("c", -1.0)
    on_real, on_fake = (
        _judged(d, x, v, c, scope) for x, scope in ((real, "on_real"), (fake, "on_fake"))
    )
    with d.g.scope("d_cost"):
        costs = (
            d.mean(_cost(d, on_real, True, "real"), "of_real"),
            d.mean(_cost(d, on_fake, False, "fake"), "of_fake"),
        )
    d.g.one("AddV2", *costs, name="d_loss")
    with d.g.scope("g_cost"):
        cost = d.mean(_cost(d, on_fake, True, "fake"), "of_fake")
    d.g.one("Identity", cost, name="g_loss")
    of_g = Variation(of=(TensorRef.parse("g_loss"),))
    return d.document(
        "A GAN: two losses that pull against each other",
        """
        The generator learns to deceive; but the discriminator's loss reaches its weights, too.

        `d_loss` is small when the discriminator tells `real` from `generator/fake`, `g_loss` when
        it takes fake for real. What is good for one is bad for the other.

        1. Press F5. `d_loss` has a gradient for `generator/b`, too, and it is positive: descent
        would make the fakes worse. That of `g_loss` is negative (Graph > Differentiate…).
        2. Each optimizer has its var_list, so none of this happens: press F5 some more and watch
        `generator/b` grow towards the real numbers.
        3. Select the wire from `generator/fake` to `on_fake` and press S: now `generator/b` has no
        gradient from either loss.
        """,
        of="d_loss",
        wrt=f"{GENERATOR} {DISCRIMINATOR}",
        fetches="d_loss g_loss",
        collapsed="on_real on_fake d_cost g_cost",
        optimizers=(
            minimizing("GradientDescent", "d_loss", DISCRIMINATOR, 0.1, "train_d"),
            minimizing("GradientDescent", "g_loss", GENERATOR, 0.1, "train_g"),
        ),
        claim="stop_gradient on the fakes keeps the discriminator from training the generator.",
        truth="Where both losses judge the same fakes, it keeps g_loss from training it as well. "
        "A var_list for each optimizer keeps them apart; a stop needs fakes judged a second time, "
        "without it.",
        expectations=(
            value("d_loss", 0.5037596, "The discriminator's loss at first."),
            value("g_loss", 1.1923265, "The generator's."),
            holds('grad["generator/b"] > 0', "By d_loss the generator would make worse fakes,"),
            holds('grad["generator/b"] < 0', "by its own loss it makes better ones.", when=of_g),
            gradient("generator/b", -0.54574656, "The gradient of g_loss.", when=of_g),
            gradient("discriminator/v", -0.25306815, "The gradient of d_loss."),
            value("generator/b", 0.054574657, "One step goes by g_loss alone."),
            holds('x["generator/b"] > 1', "In twenty runs the fakes have moved.", run=19),
        ),
    )


def _judged(d: Drawing, x: Tensor, v: Tensor, c: Tensor, scope: str) -> Tensor:
    """How real x looks to the discriminator: above 0 is real."""
    with d.g.scope(scope):
        return d.g.one("AddV2", d.g.one("Mul", x, v, name="product"), c, name="logits")


def _cost(d: Drawing, logits: Tensor, as_real: bool, name: str) -> Tensor:
    """Sigmoid cross-entropy with the label 1 (`as_real`) or 0: softplus(∓logits)."""
    if as_real:
        logits = d.g.one("Neg", logits, name=f"minus_{name}")
    return d.g.one("Softplus", logits, name=f"{name}_cost")


EXAMPLES = (gan,)
