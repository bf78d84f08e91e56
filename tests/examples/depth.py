"""The example of gradients through many steps: what a factor does when it comes ten times."""

from __future__ import annotations

from gradstep.core.document.document import Document
from tests.examples import nothing
from tests.examples.drawing import Drawing
from tests.examples.expect import gradient, value

GROUP = nothing.GROUP

STEPS = 10
WEIGHTS = {"small": 0.5, "one": 1.0, "large": 1.5, "tanh": 1.5}


def vanishing_exploding() -> Document:
    """Numbers: powers of w; of tanh TensorFlow 2.21's."""
    d = Drawing()
    for scope, weight in WEIGHTS.items():
        with d.g.scope(scope):
            _steps(d, weight, bounded=scope == "tanh")
    return d.document(
        "Vanishing and exploding gradients",
        f"""
        The same weight {STEPS} times over: its gradient shrinks to nothing, or grows beyond bounds.

        A recurrent network multiplies by the same weight at every step; so does its gradient, on
        the way back. Of `x`, {STEPS} steps before y, it is w to the power {STEPS}:

        | box | w | gradient of x |
        |---|---|---|
        | **small** | 0.5 | 0.001: the first steps learn nothing |
        | **one** | 1 | 1 |
        | **large** | 1.5 | 57.7: one step of training throws w far away |
        | **tanh** | 1.5 | 0.00005: tanh keeps the values small, and its flat ends the gradient |

        1. Press F5 and compare the gradients of `small/x`, `one/x`, `large/x` and `tanh/x`.
        2. Look at the backward rows of the **Timeline**: each h gets w times the gradient of the
        one after it.

        Against the one helps a path with the factor 1 (the memory of an LSTM), against the other
        clipping.
        """,
        of=" ".join(f"{scope}/y" for scope in WEIGHTS),
        wrt=" ".join(f"{scope}/{name}" for scope in WEIGHTS for name in "xw"),
        collapsed=" ".join(f"{scope}/steps" for scope in WEIGHTS),
        expectations=(
            *(
                gradient(f"{scope}/x", w**STEPS, f"Of x: {w:g} to the power {STEPS}.")
                for scope, w in WEIGHTS.items()
                if scope != "tanh"
            ),
            gradient("small/w", STEPS * 0.5**9, "Of w: ten times the ninth power, 0.02."),
            gradient("large/w", STEPS * 1.5**9, "Of w: ten times the ninth power, 384."),
            value("tanh/y", TANH["y"], "With tanh the value stays below 1."),
            gradient("tanh/x", TANH["x"], "Its gradient vanishes, though w is above 1.", atol=1e-9),
        ),
    )


TANH = {"y": 0.8585685, "x": 5.1437738e-05}


def _steps(d: Drawing, weight: float, bounded: bool) -> None:
    """y = w·(w·(…(w·x))), with a tanh around each product if `bounded`."""
    g = d.g
    h, w = d.variable("x", 1.0), d.variable("w", weight)
    with g.scope("steps"):
        for step in range(1, STEPS + 1):
            h = g.one("Mul", h, w, name=f"h_{step}")
            if bounded:
                h = g.one("Tanh", h, name=f"tanh_{step}")
    g.one("Identity", h, name="y")


EXAMPLES = (vanishing_exploding,)
