"""Examples of gradients elsewhere and of gradients of gradients."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Variation
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import Tensor
from tests.examples import overrides
from tests.examples.drawing import Drawing
from tests.examples.expect import different, equal, gradient, value
from tests.support.oracle import array, case

GROUP = overrides.GROUP


def gradient_elsewhere() -> Document:
    """Numbers: TensorFlow's, `hessian_norm_finite_difference`."""
    seen = case("hessian_norm_finite_difference")
    d = Drawing()
    a, q = _point(d)
    delta = d.fed("delta", array(seen["inputs"]["delta"])[0] * 1e-4, "float64")
    moved = d.g.one("AddV2", a, delta, name="moved")
    _form(d, a, q, "here")
    _form(d, moved, q, "there")
    return d.document(
        "The gradient at another point",
        """
        To differentiate f at a + delta, f has to be computed at a + delta.

        `here/f` is f(a). Asking for its gradient by `moved` = `a` + `delta` gives None: f(a) was
        not made from it. `there/f` is f once more, on `moved`; its gradient by `moved` is the one
        wanted, and the same as by `a`.

        1. Press F5 and look at the gradients of `a` and of `moved`.
        2. Graph > Differentiate…: ask for `here/f` instead, and the one of `moved` is None.
        """,
        of="there/f",
        wrt="a moved",
        fetches="here/f",
        collapsed="here there",
        expectations=(
            gradient("moved", None, "f(a) has no gradient by a + delta.", when=_asking("here/f")),
            gradient(
                "a",
                array(seen["gradients(b, a)"]),
                "It has one by a.",
                when=_asking("here/f"),
                rtol=1e-12,
            ),
            equal('grad["a"]', 'grad["moved"]', "f(a + delta) has the same by both."),
            different(
                'grad["a"]',
                array(seen["gradients(b, a)"]),
                "And it is another one.",
                rtol=1e-9,
                atol=0.0,
            ),
        ),
    )


def hessian_vector_product() -> Document:
    """Numbers: TensorFlow's, `hessian_norm_finite_difference`."""
    seen = case("hessian_norm_finite_difference")
    d = Drawing()
    g = d.g
    a, q = _point(d)
    v = d.fed("v", array(seen["inputs"]["delta"])[0], "float64")
    f = _form(d, a, q, "f")
    with g.scope("slope"):
        slope = _slope(f, a)
    product = d.sum(g.one("Mul", slope, v, name="slope_times_v"), "slope_along_v")
    step = g.one("Mul", v, g.constant(1e-4, "float64", name="epsilon"), name="step")
    with g.scope("differences"):
        ends = _ends(d, a, q, step)
    g.one("RealDiv", ends, g.constant(2e-4, "float64", name="two_epsilon"), name="Hv")
    with g.scope("article"):
        ends = _ends(d, a, q, v)
        width = g.one("AddV2", v, v, name="width")
    g.one("RealDiv", ends, width, name="H")
    found = array(seen["Hv_finite_difference"])[0]
    rough = array(seen["tutorial_formula_elementwise (g(x+d)-g(x-d))/(2d), delta~N(0,I)"])[0]
    return d.document(
        "Hessian times a vector",
        """
        The gradient of (gradient · v) is H·v, without ever making the matrix H.

        - **slope** is the gradient of **f**; the document asks for that of `slope_along_v`.
        - **differences** gets nearly the same from two gradients: (g(a + εv) − g(a − εv)) / 2ε.
        - **article** divides by 2v, element by element, and does not make the step small: each
        element gets a share of all the others, divided by a number that may be near 0.

        Press F5 and compare the gradient of `a` with `Hv` and `H`.
        """,
        of=str(product.ref),
        wrt="a",
        fetches="Hv H",
        collapsed="f slope differences article",
        claim="(g(x + d) − g(x − d)) / (2d), element by element for random d, gives the Hessian.",
        truth="For one random d it gives noise. H·v is the derivative of the gradient along v, a "
        "vector; divide by the length of the step, and keep that small.",
        expectations=(
            gradient("a", array(seen["Hv_autodiff"])[0], "Exactly H·v.", rtol=1e-12),
            value("Hv", found, "Differences agree to six digits.", rtol=1e-9),
            equal('x["Hv"]', 'grad["a"]', "They agree.", rtol=1e-3, atol=1e-5),
            value("H", rough, "The article's formula is far away.", rtol=1e-9),
        ),
    )


def _point(d: Drawing) -> tuple[Tensor, Tensor]:
    inputs = case("hessian_norm_finite_difference")["inputs"]
    q = d.g.constant(array(inputs["Q"]) / 2, "float64", name="half_Q")
    return d.variable("a", array(inputs["a"]), "float64"), q


def _form(d: Drawing, x: Tensor, half_q: Tensor, scope: str) -> Tensor:
    """f(x) = x'Qx / 2 + sum(x⁴), as the sum of x · (Q/2 x + x³)"""
    g = d.g
    with g.scope(scope):
        column = g.one("Reshape", x, g.constant([-1, 1], "int32", name="shape"), name="column")
        cube = g.one("Mul", column, g.one("Square", column, name="square"), name="cube")
        inner = g.one("AddV2", g.one("MatMul", half_q, column, name="half_Qx"), cube, name="inner")
        return d.sum(g.one("Mul", column, inner, name="terms"), "f")


def _ends(d: Drawing, a: Tensor, q: Tensor, step: Tensor) -> Tensor:
    """The gradient at a + step less that at a − step."""
    slopes = []
    for side, type in (("plus", "AddV2"), ("minus", "Sub")):
        point = d.g.one(type, a, step, name=f"a_{side}")
        f = _form(d, point, q, f"f_{side}")
        slopes.append(_slope(f, point))
    return d.g.one("Sub", *slopes, name="difference")


def _slope(y: Tensor, x: Tensor) -> Tensor:
    (found,) = gradients(y, x)
    assert isinstance(found, Tensor)
    return found


def _asking(of: str) -> Variation:
    return Variation(of=(TensorRef.parse(of),))


EXAMPLES = (gradient_elsewhere, hessian_vector_product)
