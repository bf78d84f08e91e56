"""Examples of gradients that are replaced: what an override does, and what it is thought to do."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.expectation import Expectation
from tests.examples.drawing import Drawing, override_op
from tests.examples.expect import gradient, value
from tests.examples.start import ARTICLE_BACKPROP, network
from tests.support.oracle import array, case

GROUP = "Gradients and overrides"

RIGHT_BACKPROP = """\
def backprop(op, grad):
    return (grad, grad, None)
"""


def override_add_compared() -> Document:
    """Numbers: TensorFlow's, `override_custom_add_claim`."""
    d = Drawing()
    d.gradient("ArticleAdd", ARTICLE_BACKPROP)
    d.gradient("RightAdd", RIGHT_BACKPROP)
    for scope in ("native", "article", "right"):
        with d.g.scope(scope):
            network(d, python=scope != "native")
    return d.document(
        "One addition, three gradients",
        """
        The tutorial's network three times: e = c + k native, as an article has it, and right.

        - **native**: AddV2 and its own gradient.
        - **article**: a Python function whose gradient is ((e + d)·grad, d·grad, e·grad).
        - **right**: the same function with the gradient (grad, grad, None).

        Press Ctrl+K and compare the rows of c and of k under **Gradients**: numeric is the same in
        all three, and only article's override differs from it. All three losses are equal.
        """,
        _PICTURE,
        of="native/loss article/loss right/loss",
        wrt="native/c native/k article/c article/k right/c right/k",
        request={
            "overrides": (
                override_op("ArticleAdd", "article/e"),
                override_op("RightAdd", "right/e"),
            )
        },
        optimizers=(Optimizer("Adam", {"learning_rate": 0.001, "epsilon": 0.1}),),
        claim="The article's override gives the same result as the native gradient.",
        truth="Only `(grad, grad, None)` does: `grad` is dL/de, which holds the factor d already.",
        expectations=tuple(_compared()),
    )


def _compared() -> Iterator[Expectation]:
    results = case("override_custom_add_claim")["results"]
    for scope, recorded in (("native", "native"), ("article", "tutorial"), ("right", "correct")):
        seen = results[f"{recorded}/float32"]
        yield value(f"{scope}/loss", array(seen["loss"]), f"{scope}: the loss is the same.")
        for name in ("c", "k"):
            text = f"{scope}: TensorFlow's gradient of {name}."
            yield gradient(f"{scope}/{name}", array(seen[f"dL_d{name}"]), text)
            after = array(seen["adam_after_step_1_2_3"][2][name])
            yield value(f"{scope}/{name}", after, f"{scope}: {name} after three steps.", run=2)


_PICTURE = "\n\n".join(
    f"{s}/data {s}/d . {s}/a {s}/loss\n{s}/c . {s}/e\n{s}/k . . {s}/labels"
    for s in ("native", "article", "right")
)


def custom_grad_identity() -> Document:
    """Numbers: TensorFlow's, `gradient_override_map_semantics` (identity_customgrad_5x)."""
    seen = case("gradient_override_map_semantics")["identity_customgrad_5x"]
    d = Drawing()
    d.gradient("CustomGrad", "def custom_grad(op, grad):\n    return 5.0 * grad\n")
    x = d.fed("x", [1.2, -0.7, 3.0])
    before = d.g.one("Identity", x, name="before")
    inside = d.g.one("Identity", before, name="inside", _gradient_op_type="CustomGrad")
    after = d.g.one("Identity", inside, name="after")
    d.sum(after, "total")
    return d.document(
        "An Identity that multiplies its gradient by 5",
        """
        Three Identity operations in a row, and one of them has another gradient.

        Only `inside` was made within `gradient_override_map({"Identity": "CustomGrad"})`: it
        carries `_gradient_op_type`, and its gradient function returns 5·grad. Values pass.

        Press F10 to the end: 1 arrives at `after` and at `inside`, 5 at `before` and at `x`.
        """,
        "x before inside after total\n. . . axes",
        of="total",
        wrt="after inside before x",
        fetches="after",
        expectations=(
            value("after", [1.2, -0.7, 3.0], "The forward pass is that of Identity."),
            gradient("inside", 1.0, "1 arrives at the output of the overridden operation."),
            gradient("before", array(seen["inside"]), "5 leaves it."),
            gradient("x", array(seen["inside"]), "An Identity made outside passes it on."),
        ),
    )


EXAMPLES = (override_add_compared, custom_grad_identity)
