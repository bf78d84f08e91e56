"""Examples of gradients that are None, zero, NaN, or too small to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing
from tests.examples.expect import gradient, holds, value
from tests.support.oracle import array, case

GROUP = "Nothing, zero, NaN"

NAN = float("nan")


def floor_ceil_cast() -> Document:
    """Numbers: TensorFlow's, `grad_none_mixed_paths` and `grad_none_vs_zeros_table`."""
    d = Drawing()
    start = [1.2, -0.7, 2.5]
    floor = d.g.one("Floor", d.variable("a", start), name="floor")
    ceil = d.g.one("Ceil", d.variable("b", start), name="ceil")
    whole = d.g.one("Cast", d.variable("c", start), name="to_int", DstT=DType.INT32)
    back = d.g.one("Cast", whole, name="int_to_float", DstT=DType.FLOAT32)
    double = d.g.one("Cast", d.variable("d", start), name="to_double", DstT=DType.FLOAT64)
    single = d.g.one("Cast", double, name="double_to_float", DstT=DType.FLOAT32)
    e = d.variable("e", start)
    partly = d.g.one("Mul", e, d.g.one("Floor", e, name="floor_1"), name="partly")
    largest = d.g.constant(0, "int32", name="largest")
    place = d.g.one("ArgMax", d.variable("f", start), largest, name="argmax")
    place = d.g.one("Cast", place, name="place", DstT=DType.FLOAT32)
    ends = (floor, ceil, back, single, partly, place)
    return d.document(
        "Floor, cast, argmax: where gradients end",
        """
        What gives whole numbers has no gradient; casts between floats pass it on.

        | variable | way | gradient |
        |---|---|---|
        | `a` | floor | None |
        | `b` | ceil | None |
        | `c` | to int32 and back | None |
        | `d` | to float64 and back | 1 |
        | `e` | e·floor(e) | floor(e) |
        | `f` | argmax | None: nothing that counts hits can be trained |

        Press F5. The Gradients panel lists those that are None: click Why? there. In `e` two paths
        meet; one of them has nothing to give, and the other still counts.
        """,
        """
        a floor
        b ceil
        c to_int int_to_float
        d to_double double_to_float
        e floor_1 partly
        f argmax place
        largest
        """,
        of=" ".join(str(end.ref) for end in ends),
        wrt="a b c d e f",
        expectations=(
            gradient("a", None, "Floor has no gradient."),
            gradient("b", None, "Ceil has none either."),
            gradient("c", None, "A whole number has none."),
            gradient("d", 1.0, "A cast from float to float passes it on."),
            gradient("e", [1.0, -1.0, 2.0], "One path without a gradient takes nothing away."),
            gradient("f", None, "The place of the largest is a whole number, too."),
        ),
    )


def where_nan_trap() -> Document:
    """Numbers: TensorFlow's, `where_cond_gradients` (the first three of four)."""
    seen = case("where_cond_gradients")
    d = Drawing()
    for scope, type, double in _WAYS:
        with d.g.scope(scope):
            _guarded(d, type, double)
    return d.document(
        "where(x > 0, f(x), 0) and the NaN behind it",
        """
        Choosing the good value with where does not keep the bad gradient out.

        Going back, Select gives f the gradient 0 where it was not chosen. f multiplies that by
        f′(0), which is infinite, and 0·∞ is NaN.

        - **log**: NaN at x = 0.
        - **sqrt**: 0 at x = 0, because TensorFlow's kernel for the gradient of Sqrt lets a zero
        stay zero. It did not always, and XLA does not.
        - **double**: a second where in front of log keeps 0 away from it. Always safe.

        Press F5, then Shift+F10 until the NaN is gone: the gradient of `log/f` made it.
        """,
        """
        log/x log/f log/y log/loss
        log/zero log/positive log/axes

        sqrt/x sqrt/f sqrt/y sqrt/loss
        sqrt/zero sqrt/positive sqrt/axes

        double/x . double/inner double/f double/y double/loss
        double/zero double/positive . . double/axes
        double/one
        """,
        of="log/loss sqrt/loss double/loss",
        wrt="log/x sqrt/x double/x",
        fetches="log/y sqrt/y double/y",
        claim="`where(x > 0, sqrt(x), 0)` has the gradient NaN at 0.",
        truth="Not in TensorFlow 2.21 on the CPU: there it is 0. With log, 1/x or x**0.5 it is "
        "NaN. The double where is right everywhere.",
        expectations=(
            value("log/y", _value(seen, "log(x)"), "The values are finite with log,"),
            value("sqrt/y", _value(seen, "sqrt(x)"), "and with sqrt."),
            gradient("log/x", _slope(seen, "log(x)"), "Through log the gradient at 0 is NaN."),
            gradient("sqrt/x", _slope(seen, "sqrt(x)"), "Through sqrt it is 0."),
            gradient("double/x", [0.0, 0.25, 0.0], "With a second where it is 0."),
        ),
    )


_WAYS = (("log", "Log", False), ("sqrt", "Sqrt", False), ("double", "Log", True))


def _guarded(d: Drawing, type: str, double: bool) -> None:
    x = d.variable("x", [0.0, 4.0, -1.0])
    zero = d.g.constant(np.zeros(3, np.float32), name="zero")
    positive = d.g.one("Greater", x, zero, name="positive")
    inner = x
    if double:
        one = d.g.constant(np.ones(3, np.float32), name="one")
        inner = d.g.one("Select", positive, x, one, name="inner")
    f = d.g.one(type, inner, name="f")
    d.sum(d.g.one("Select", positive, f, zero, name="y"), "loss")


def _value(seen: Mapping[str, Any], f: str) -> np.ndarray:
    return array(seen[f"where(x>0, {f}, 0)"]["value"])[:3]


def _slope(seen: Mapping[str, Any], f: str) -> np.ndarray:
    return array(seen[f"where(x>0, {f}, 0)"]["grad"])[:3]


def reduce_prod() -> Document:
    """Numbers: TensorFlow's, `reduce_prod_gradient`."""
    seen = case("reduce_prod_gradient")
    rows = [array(seen[f"{how} zero"]["grad"]) for how in ("no", "one")]
    rows.append(array(seen["two zeros"]["grad"]))
    d = Drawing()
    x = d.variable("x", [[2, 3, 4], [2, 0, 4], [0, 0, 4]])
    axis = d.g.constant(1, "int32", name="axis")
    product = d.g.op("Prod", x, axis, name="product", keep_dims=True)[0]
    d.g.one("RealDiv", product, x, name="naive")
    d.sum(product, "total")
    return d.document(
        "The gradient of a product with zeros in it",
        """
        Dividing the product by x gives the gradient, until there is a zero.

        The rows of `x` have no zero, one, and two. `naive` is product / x, as a formula
        on paper has it: 0/0 is NaN. The gradient of `product` multiplies what comes before by what
        comes after, and divides by nothing.

        Press F5 and compare the gradient of `x` with the value of `naive`.
        """,
        """
        x product . total
        axis . axes
        . . naive
        """,
        of="total",
        wrt="x",
        fetches="product naive",
        expectations=(
            value("product", [[24.0], [0.0], [0.0]], "Two of the products are zero."),
            gradient("x", np.array(rows, np.float32), "The gradient is right in every row."),
            value(
                "naive",
                [[12.0, 8.0, 6.0], [0.0, NAN, 0.0], [NAN, NAN, 0.0]],
                "product / x is NaN at the zeros; in the second row 8 would be right.",
            ),
        ),
    )


def saturated_activations() -> Document:
    """Numbers: TensorFlow 2.21's."""
    d = Drawing()
    for scope, type in _ACTIVATIONS.items():
        with d.g.scope(scope):
            x = d.variable("x", [0.0, 2.0, 10.0, 20.0, -100.0])
            d.sum(d.g.one(type, x, name="y"), "total")
    return d.document(
        "Saturated activations, dead units",
        """
        Far from zero, sigmoid and tanh are flat in float32: their gradient is exactly zero.

        All four get 0, 2, 10, 20 and −100.

        - **sigmoid**: σ(20) rounds to 1, so y·(1 − y) is 0, and what is in front of it learns
        nothing more.
        - **relu**: off for all negative inputs. A unit that is negative for every example gets no
        gradient ever again: it is dead.
        - **leaky**: LeakyRelu lets a fifth of the gradient through there: a unit can come back.

        Press F5 and look at the gradients of `sigmoid/x`, `tanh/x`, `relu/x` and `leaky/x`.
        """,
        "\n\n".join(f"{s}/x {s}/y {s}/total\n. {s}/axes" for s in _ACTIVATIONS),
        of=" ".join(f"{s}/total" for s in _ACTIVATIONS),
        wrt=" ".join(f"{s}/x" for s in _ACTIVATIONS),
        fetches=" ".join(f"{s}/y" for s in _ACTIVATIONS),
        expectations=(
            gradient(
                "sigmoid/x", [0.25, 0.104993574, 4.5416677e-05, 0.0, 0.0], "Sigmoid: 0 at 20."
            ),
            gradient("tanh/x", [1.0, 0.070650816, 0.0, 0.0, 0.0], "Tanh: 0 at 10 already."),
            gradient(
                "relu/x", [0.0, 1.0, 1.0, 1.0, 0.0], "Relu: 0 for what is negative, and at 0."
            ),
            gradient("leaky/x", [0.2, 1.0, 1.0, 1.0, 0.2], "LeakyRelu: a fifth of it there."),
            holds('x["sigmoid/y"][3] == 1', "The sigmoid of 20 is exactly 1 in float32."),
        ),
    )


_ACTIVATIONS = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu", "leaky": "LeakyRelu"}


def input_scale() -> Document:
    """Numbers: TensorFlow 2.21's."""
    d = Drawing()
    pixels = d.fed("pixels", [[0, 64, 255], [255, 128, 0]])
    wanted = d.fed("wanted", [[0.0], [1.0]])
    largest = d.g.constant(255.0, name="largest")
    scaled = d.g.one("RealDiv", pixels, largest, name="fractions")
    for scope, x in (("raw", pixels), ("scaled", scaled)):
        with d.g.scope(scope):
            _unit(d, x, wanted)
    return d.document(
        "The scale of the inputs",
        """
        The same unit, fed pixels from 0 to 255 and pixels from 0 to 1: only one of them learns.

        In **raw** the sum is so large that the sigmoid is saturated: its gradient is almost
        exactly 0, and the loss stays at 0.5. In **scaled** it falls.

        1. Press F5 ten times, and watch `raw/loss` and `scaled/loss`.
        2. Look at `raw/y`: 1 and 0.9999998, whatever the picture.
        """,
        """
        . raw/w raw/product raw/sum raw/y raw/square raw/loss
        . . raw/b . . raw/axes
        pixels fractions . . wanted
        largest
        . scaled/w scaled/product scaled/sum scaled/y scaled/square scaled/loss
        . . scaled/b . . scaled/axes
        """,
        of="raw/loss scaled/loss",
        wrt="raw/w raw/b scaled/w scaled/b",
        fetches="raw/loss scaled/loss",
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 1.0}),),
        expectations=(
            value("raw/y", [[1.0], [0.9999998]], "Raw pixels saturate the sigmoid."),
            holds('abs(grad["raw/w"]) < 1e-10', "So there is next to no gradient."),
            value("raw/loss", 0.5, "After 30 runs nothing has been learned.", run=29),
            value("scaled/loss", 0.25767708, "With scaled pixels the loss starts at 0.258"),
            value("scaled/loss", 0.026893817, "and is a tenth of that after 30 runs.", run=29),
        ),
    )


def _unit(d: Drawing, x: Tensor, wanted: Tensor) -> None:
    w, b = d.variable("w", [[0.05], [0.02], [0.1]]), d.variable("b", [0.1])
    total = d.g.one("AddV2", d.g.one("MatMul", x, w, name="product"), b, name="sum")
    y = d.g.one("Sigmoid", total, name="y")
    d.mean(d.g.one("SquaredDifference", y, wanted, name="square"), "loss")


EXAMPLES = (floor_ceil_cast, where_nan_trap, reduce_prod, saturated_activations, input_scale)
