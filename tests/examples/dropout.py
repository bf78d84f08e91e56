"""The example of dropout: what it does in training, and not in inference."""

from __future__ import annotations

from gradstep.core.document.document import Document
from tests.examples import networks
from tests.examples.drawing import Drawing
from tests.examples.expect import equal, gradient, value

GROUP = networks.GROUP


def dropout() -> Document:
    """Numbers: by TensorFlow's formula, x · (draw >= rate) / (1 − rate)."""
    d = Drawing()
    g = d.g
    draw = d.fed("draw", [[0.9, 0.2, 0.6, 0.4], [0.1, 0.8, 0.3, 0.5]])
    with g.scope("training"):
        rate = g.constant(0.5, name="rate")
        x = d.variable("x", [[1, 2, 3, 4], [1, 2, 3, 4]])
        kept = g.one("GreaterEqual", draw, rate, name="kept")
        mask = g.one("Cast", kept, name="mask", DstT=x.dtype)
        one = g.constant(1.0, name="one")
        share = g.one("Sub", one, rate, name="share_kept")
        scaled = g.one("RealDiv", x, share, name="scaled")
        out = g.one("Mul", scaled, mask, name="out")
        rows = g.constant(0, "int32", name="rows")
        g.one("Mean", out, rows, name="mean")
        d.sum(out, "loss")
    with g.scope("inference"):
        x = d.variable("x", [[1, 2, 3, 4], [1, 2, 3, 4]])
        d.sum(g.one("Identity", x, name="out"), "loss")
    return d.document(
        "Dropout: in training, and in inference",
        """
        In training half of the units are off and the others count twice; in inference nothing is.

        `draw` is the random number of each unit, fed here so that every run gives the same. A unit
        is kept where it is at least `training/rate`, and divided by the share that is kept: the
        mean stays what it is without dropout, and inference needs no factor.

        1. Press F5 and compare `training/out` with `inference/out`. The two rows of `draw` switch
        off opposite halves; `training/mean` is their mean.
        2. Look at the gradient of `training/x`: 2 where a unit is kept, 0 where it is off.
        """,
        """
        draw . training/kept training/mask training/out training/loss
        . training/rate training/share_kept training/scaled training/axes
        . training/one training/x . training/rows training/mean

        . . inference/x . inference/out inference/loss
        . . . . inference/axes
        """,
        of="training/loss inference/loss",
        wrt="training/x inference/x",
        fetches="training/out training/mean inference/out",
        claim="`tf.layers.dropout(x, 0.5)` drops half of the units.",
        truth="Only with `training=True`. The default is False: inference, where it hands x on.",
        expectations=(
            value("training/out", [[2.0, 0, 6, 0], [0.0, 4, 0, 8]], "Half are off, half doubled."),
            gradient("training/x", [[2.0, 0, 2, 0], [0.0, 2, 0, 2]], "Their gradients as well."),
            equal('x["training/mean"]', [1.0, 2.0, 3.0, 4.0], "On the mean nothing is changed."),
            equal('x["inference/out"]', 'x["inference/x"]', "In inference nothing is off."),
            gradient("inference/x", 1.0, "And all gradients pass."),
        ),
    )


EXAMPLES = (dropout,)
