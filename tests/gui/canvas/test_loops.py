"""Loops on the canvas: what is in them is shown, glows while it runs, and has values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtTest import QTest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui.model.debugger import TICK


def power(n: int = 3) -> Document:
    """2 ** n, and its derivative."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=())
        _, y = tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, tf.multiply(y, x, name="times")), [0, 1.0]
        )
        z = tf.identity(y, name="z")
    request = GradientRequest(of=(z.ref,), wrt=(x.ref,))
    return Document(graph=builder.build(), request=request, feeds={"x:0": Constant(np.float32(2))})


@pytest.fixture
def looped(canvas: Any) -> Any:
    canvas.space.open_document(power())
    canvas.space.debugger.flush()
    return canvas


def current(canvas: Any) -> str:
    box = canvas.view.stage.facts.current
    return "" if box is None else canvas.view.arrays.visible.boxes[box].id


def says(canvas: Any, name: str) -> str:
    def text() -> str:
        return canvas.view.stage.facts.reading(canvas.number(name), of_gradient=False).text

    for _ in range(100):  # it was asked for, and comes: until then its type stands there
        if not text().endswith("]"):
            break
        QTest.qWait(TICK)
    return text()


def test_what_is_in_a_loop_is_shown_with_the_wires_that_come_from_outside(looped: Any) -> None:
    visible = looped.view.arrays.visible
    ends = {(visible.boxes[a].id, visible.boxes[b].id) for a, b in visible.ends.tolist()}
    assert {("while/Enter_1", "while/Merge_1"), ("while/times", "while/NextIteration_1")} <= ends
    assert ("x", "while/times/Enter") in ends


def test_a_collapsed_loop_is_one_box(looped: Any) -> None:
    looped.view.stage.collapse_scopes()
    assert {box.id for box in looped.view.arrays.visible.boxes} >= {"x", "z", "while/"}


def test_stepping_into_a_loop_lights_up_what_is_in_it(looped: Any) -> None:
    space = looped.space
    space.control("run_to", "while/While")
    assert current(looped) == "while/While"
    space.control("step_into")
    assert looped.space.stop.inside[0].iteration == 0
    assert current(looped) == "while/Const_2", "what the condition compares with"
    space.control("run_to", "while/times")
    assert current(looped) == "while/times"
    assert space.stop.inside[0].text == "while/While, iteration 1"
    space.control("step")
    assert says(looped, "while/times") == "2"
    space.control("step_out")
    assert says(looped, "while/times") == "8", "as the last iteration left it"


def test_the_way_back_goes_round_the_other_way(looped: Any, qtbot: Any) -> None:
    space = looped.space
    loop = next(x.loop for x in space.program.loops if x.loop.startswith("gradients/"))
    space.control("run_to", loop)
    space.control("step_into")
    names = [step.op for x in space.program.loops if x.loop == loop for step in x.steps]
    assert [space.step_text(name) for name in names] == [""] * len(names), "nobody asked before"
    qtbot.waitUntil(lambda: all(map(space.step_text, names)))
    assert any("∂L/∂times ⊙" in space.step_text(name) for name in names)
    while space.stop.inside:
        space.control("step_out")
    space.control("continue_")
    assert float(space.gradient("x").array) == 12
