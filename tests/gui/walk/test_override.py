"""Point 4: the override that an article proposes for `e`: ready-made, and written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import oracle
from tests.support.rounding import Rounding, rounded_alike

pytestmark = pytest.mark.xvfb
CLAIM = oracle.case("override_custom_add_claim")["results"]
NATIVE, CUSTOM = CLAIM["native/float32"], CLAIM["tutorial/float32"]
TUTORIAL = Rounding(terms=2, steps=3)
FORWARD = "def forward(c, k, d):\n    return c + k\n"
BACKWARD = (
    "def backprop(op, grad):\n"
    "    c, k, d = op.inputs\n"
    "    e = c + k\n"
    "    return (e + d) * grad, d * grad, e * grad\n"
)


def gradients_are(user, expected: dict) -> bool:
    return all(
        rounded_alike(user.gradient(name), oracle.array(expected[f"dL_d{name}"]), TUTORIAL)
        for name in ("c", "k")
    )


def columns(rows: list[list[str]]) -> dict[str, list[float]]:
    """The gradient table by column, in the order of its rows."""
    numbers = np.array([[float(cell) for cell in row[1:4]] for row in rows])
    return dict(zip(("native", "override", "numeric"), numbers.T.tolist(), strict=True))


def check_the_table(user) -> None:
    """Native, overridden and numeric side by side, and what follows from them."""
    user.show_tab("Gradients")
    rows = user.table("gradients.table")
    assert [row[0] for row in rows] == ["c[0]", "c[1]", "k[0]", "k[1]"]
    found = columns(rows)
    native = [*NATIVE["dL_dc"]["data"], *NATIVE["dL_dk"]["data"]]
    custom = [*CUSTOM["dL_dc"]["data"], *CUSTOM["dL_dk"]["data"]]
    assert found["native"] == pytest.approx(native, abs=1e-4)
    assert found["numeric"] == pytest.approx(native, abs=1e-4)
    assert found["override"] == pytest.approx(custom, abs=1e-4)
    assert "numbers support the native gradient" in user.text("gradients.sentence")
    assert "CustomAdd at e is not its gradient" in user.text("gradients.node.e")


def check_the_verdict(user) -> None:
    """What the inspector says at the node itself."""
    user.show_tab("Inspector")
    user.select("e")
    assert "already ∂L/∂e = d ⊙ ∂L/∂a" in user.text("inspector.card.text")
    assert "gradient overridden by CustomAdd" in user.says("e")


def test_the_ready_example_switched_on_and_off(user) -> None:
    user.wait(lambda: user.window.is_drawn, "the examples' pictures")
    user.click("welcome.example.override_add")
    user.wait(lambda: user.workspace.program is not None, "the example")
    user.settle()
    user.click("toolbar.update")
    assert gradients_are(user, CUSTOM)
    check_the_table(user)
    user.take_picture("override-table")
    check_the_verdict(user)
    user.take_picture("override")
    user.click("inspector.card.native")
    user.click("toolbar.update")
    assert gradients_are(user, NATIVE)
    user.click("toolbar.override.0")
    user.click("toolbar.update")
    assert gradients_are(user, CUSTOM)


def test_the_same_by_hand(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    user.select("e")
    user.click("inspector.gradient")
    user.pick("Replace with Python function…")
    user.click("pyfunc_dialog.apply")
    user.drag(user.output("d"), user.input("e", 2))
    assert [str(ref) for ref in user.workspace.document.graph["e"].inputs] == ["c:0", "k:0", "d:0"]

    user.select("e")
    user.click("inspector.token")
    user.type_into("code_dialog.code", FORWARD)
    user.click("code_dialog.apply")
    user.click("toolbar.update")
    assert gradients_are(user, NATIVE)

    user.click("inspector.gradient")
    user.pick("New gradient function…")
    user.type_into("code_dialog.name", "CustomAdd")
    user.type_into("code_dialog.code", BACKWARD)
    user.take_picture("override-by-hand-code")
    user.click("code_dialog.apply")
    assert user.text("status.trust") == "document trusted"
    user.click("toolbar.update")
    assert user.value("loss").item() == pytest.approx(0.66369414)
    assert gradients_are(user, CUSTOM)
    check_the_table(user)
    check_the_verdict(user)
    user.take_picture("override-by-hand")

    for _ in range(user.workspace.undo_stack.count()):
        user.key("Ctrl+Z")
    user.click("toolbar.update")
    assert gradients_are(user, NATIVE)
    assert user.workspace.document.graph["e"].type == "AddV2"
