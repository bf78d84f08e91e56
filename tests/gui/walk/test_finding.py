"""What is found is gone to: by search, by Why?, by the outline and the breakpoints."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.document.document import Document, View
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file

pytestmark = pytest.mark.xvfb
CLOSED = frozenset({"head", "head/inner", "tail"})


def document() -> Document:
    """y = tanh(sg(tanh x)), all but x in closed scopes."""
    attrs = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    chain = [
        ("head/t", "Tanh", "x"),
        ("head/inner/sg", "StopGradient", "head/t"),
        ("tail/y", "Tanh", "head/inner/sg"),
    ]
    ops = [Operation("x", "Placeholder", attrs=attrs)]
    ops += [Operation(name, type, (TensorRef(source),)) for name, type, source in chain]
    return Document(
        graph=Graph.of(ops),
        request=GradientRequest.to("tail/y", "x"),
        breakpoints=(Breakpoint("tail/y"),),
        view=View(collapsed=CLOSED),
    )


def close_scopes(user) -> None:
    user.menu("View", "Collapse every scope")
    assert user.workspace.document.view.collapsed == CLOSED


def is_plain(user, name: str) -> bool:
    """Whether a node's own box is in view, selected, and ringed by the flash."""
    rect = user.canvas.box_rect(user.canvas.arrays.visible.number[name])
    seen = user.canvas.camera.visible.contains(rect)
    return (
        seen and name in user.workspace.selection and not user.canvas.revealer.flash.rect.isNull()
    )


def test_what_is_found_is_shown(user, tmp_path) -> None:
    path = tmp_path / "nested.gradstep"
    gradstep_file.save(path, document())
    user.open(path)
    user.key("Ctrl+F")
    field = user.find("node_finder.field")
    QTest.keyClicks(field, "sg")
    QTest.keyClick(field, "\r")
    assert is_plain(user, "head/inner/sg")
    assert user.workspace.document.view.collapsed == {"tail"}

    close_scopes(user)
    user.show_tab("Gradients")
    user.click("gradients.why.x")
    assert user.workspace.selection[0] == "tail/y", "all of the path is selected"
    assert is_plain(user, "head/inner/sg")
    user.take_picture("finding-why")

    close_scopes(user)
    user.show_tab("Breakpoints")
    user.click_row("breakpoints.table", 0)
    assert is_plain(user, "tail/y")
    assert user.workspace.document.view.collapsed == {"head", "head/inner"}
