"""Examples of branches and loops: what runs, what is dead, and what their gradients are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation, Variation
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from tests.examples import state
from tests.examples.drawing import Drawing
from tests.examples.expect import gradient, value
from tests.support.oracle import array, case

GROUP = state.GROUP


def cond_gradients() -> Document:
    """Numbers: TensorFlow's, `where_cond_gradients` (cond)."""
    seen = case("where_cond_gradients")
    d = Drawing()
    p = d.fed("p", True, "bool")
    a, b, q = d.variable("a", 3.0), d.variable("b", 5.0), d.variable("q", 0.0)
    zero = d.g.constant(0.0, name="zero")
    positive = d.g.one("Greater", q, zero, name="positive")
    with d.g.as_default():
        chosen = tf.cond(p, lambda: a * a, lambda: b * 10.0, name="choose")
        root = tf.cond(positive, lambda: tf.sqrt(q), lambda: tf.identity(zero), name="guard")
    y, guarded = d.g.one("Identity", chosen, name="y"), d.g.one("Identity", root, name="root")
    false = Variation(feeds={"p:0": Constant(np.array(False))})
    four = Variation(initial={"q": Constant(np.float32(4))})
    return d.document(
        "cond: the branch that is not taken",
        """
        Only one branch runs; what belongs to the other is dead, and its inputs get the gradient 0.

        `y` is a·a if `p` is true, else b·10. `root` is √q if q > 0, else 0: since √q does not run
        at q = 0, its infinite slope does no harm.

        1. Press F5. The dead operations show no value, but "dead".
        2. Select `p`, press Ctrl+E, set it to False and run again.
        """,
        of=f"{y.ref} {guarded.ref}",
        wrt="a b q",
        expectations=(
            *_taken(seen["cond"]["True"], Variation(), "p is true"),
            *_taken(seen["cond"]["False"], false, "p is false"),
            gradient("q", 0.0, "The guarded root has the gradient 0 at 0,"),
            gradient("q", 0.25, "and 1/4 at 4.", when=four),
        ),
        claim="The branch that is not taken gives no gradient, None.",
        truth="It gives a tensor of zeros: which branch runs is not known when gradients are made.",
    )


def _taken(seen: Mapping[str, Any], when: Variation, text: str) -> tuple[Expectation, ...]:
    return (
        value("y", array(seen["value"]), f"The value where {text}.", when=when),
        gradient("a", array(seen["d/da"]), f"The gradient of a where {text}.", when=when),
        gradient("b", array(seen["d/db"]), f"The gradient of b where {text}.", when=when),
    )


def while_loop() -> Document:
    """Numbers: TensorFlow's, `while_loop_gradients` (x^n)."""
    d = Drawing()
    x, n = d.variable("x", 2.0), d.fed("n", 3, "int32")
    i, one = d.g.constant(0, "int32", name="i"), d.g.constant(1.0, name="one")
    with d.g.as_default():
        _, power = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [i, one])
    y = d.g.one("Identity", power, name="y")
    powers = [entry for entry in case("while_loop_gradients")["x^n"] if entry["x"] == 2.0]
    return d.document(
        "while_loop: a power, and its gradient",
        """
        A loop multiplies by x, n times; its gradient is a loop that goes backward.

        1. Select `while/While` and press Ctrl+F10 to run up to it, then F11 to go into it: the
        steps of one iteration, then of the next. Shift+F11 leaves the loop.
        2. Go on with F10 to the backward pass: the gradient's loop takes the iterations in
        reverse, and reads what each of them had computed.
        3. Set `n` to 0 (Ctrl+E): no iteration, and the gradient of `x` is 0.
        """,
        of=str(y.ref),
        wrt="x",
        collapsed="while",
        expectations=tuple(
            check
            for entry in powers
            for check in _power(entry, Variation(feeds={"n:0": Constant(np.int32(entry["n"]))}))
        ),
    )


def _power(seen: Mapping[str, Any], when: Variation) -> tuple[Expectation, ...]:
    n = seen["n"]
    return (
        value("y", array(seen["y"]), f"2 to the power {n}.", when=when),
        gradient("x", array(seen["dy/dx"]), f"The slope of x to the power {n}, at 2.", when=when),
    )


EXAMPLES = (cond_gradients, while_loop)
