"""Examples of sessions: each has its own variables, and values are copied between them."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document
from tests.examples.drawing import Drawing
from tests.examples.expect import value
from tests.examples.optimizing import minimizing
from tests.support.oracle import array, case

GROUP = "Sessions and queues"


def session_copies() -> Document:
    """Numbers: TensorFlow's, `several_networks_one_graph` (after_train_A)."""
    seen = case("several_networks_one_graph")
    inputs = {name: array(given) for name, given in seen["inputs"].items()}
    start = [array(given) for given in seen["init"]["A"]]
    after = [array(given) for given in seen["after_train_A"]["A"]]
    d = Drawing()
    x, t = d.fed("x", inputs["x"]), d.fed("t", inputs["t"])
    for scope, values in (("net", start), ("copy", [np.zeros_like(v) for v in start])):
        with d.g.scope(scope):
            w, b = (d.variable(n, v) for n, v in zip("wb", values, strict=True))
            y = d.g.one("AddV2", d.g.one("MatMul", x, w, name="product"), b, name="y")
            d.mean(d.g.one("SquaredDifference", y, t, name="square"), "loss")
    return d.document(
        "Sessions: the same graph, other values",
        """
        A session holds the values of the variables; a second one of the same graph has its own.

        1. Press F5 three times: `net` learns here, in the session main.
        2. Open Run > Sessions and make a new one: its `net/w` is as at the start.
        3. **Copy values…** from main: now both hold the same. Go on in one of them, and the other
        keeps what it has: a copy is no reference.
        4. **Copy values…** with `net/=copy/` fills the other network, which nobody trains.
        """,
        """
        . net/w net/product net/y net/square net/loss
        . . net/b . net/axes
        x . . t

        . copy/w copy/product copy/y copy/square copy/loss
        . . copy/b . copy/axes
        """,
        of="net/loss",
        wrt="net/w net/b",
        fetches="net/loss copy/loss",
        optimizers=(minimizing("GradientDescent", "net/loss", "net/w net/b", 0.1, ""),),
        expectations=(
            value("net/w", after[0], "A step of training changes the variable of its session."),
            value("net/b", after[1], "And b with it."),
            value("copy/w", 0.0, "The other network has its own, which stay as they are.", run=2),
        ),
    )


EXAMPLES = (session_copies,)
