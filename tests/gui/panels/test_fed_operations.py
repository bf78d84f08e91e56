"""What Gradstep does not run can be fed in the window, and is no problem then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel

KINDS = {"output_types": (DType.FLOAT32, DType.INT32), "output_shapes": (Shape.of(2), Shape.of())}
GRAPH = Graph.of(
    [
        Operation("odd", "Zorp"),
        Operation("after", "Neg", (TensorRef("odd"),)),
        Operation("iterator", "IteratorV2", attrs=KINDS),
        Operation("next", "IteratorGetNext", (TensorRef("iterator"),), attrs=KINDS),
    ]
)


def type_into(qtbot: Any, panel: InspectorPanel, name: str, text: str) -> None:
    qtbot.waitUntil(lambda: panel.is_current)
    editor = panel.findChild(QLineEdit, name)
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)


def test_they_are_fed_in_the_inspector(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    space = bench.space
    space.open_document(Document(graph=GRAPH))
    assert [problem.node for problem in space.inference.problems] == ["odd"]
    space.select(["odd"])
    panel: InspectorPanel = show(InspectorPanel(space), 328, 900)
    type_into(qtbot, panel, "inspector.fed.0", "[1, 2, 3]")
    assert space.inference.problems == ()
    assert str(space.inference.types[TensorRef("after")]) == "float32[3]"
    type_into(qtbot, panel, "inspector.fed.0", "[4]")
    np.testing.assert_array_equal(space.document.feeds["odd:0"].array, np.float32([4]))
    space.undo_stack.undo()  # both: they are one step
    assert [problem.node for problem in space.inference.problems] == ["odd"]
    space.select(["next"])
    type_into(qtbot, panel, "inspector.fed.1", "[7]")
    assert "does not fit" in bench.messages[-1]
    type_into(qtbot, panel, "inspector.fed.1", "7")
    assert space.document.feeds["next:1"].array.dtype == np.int32
