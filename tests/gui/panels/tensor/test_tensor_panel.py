"""The tensor panel: facts, slices, pages read on demand, value and gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QSpinBox

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.protocol.messages import Read
from gradstep.gui.panels.tensor.tensor_model import PAGE
from gradstep.gui.panels.tensor.tensor_panel import TensorPanel


def document_of(array: np.ndarray) -> Document:
    """One placeholder fed with `array`, and its negation."""
    attrs = {"dtype": DType.of(array.dtype), "shape": Shape(array.shape)}
    ops = [Operation("x", "Placeholder", attrs=attrs), Operation("y", "Neg", (TensorRef("x"),))]
    return Document(Graph.of(ops), feeds={"x:0": Constant(array)}, fetches=(TensorRef("y"),))


def opened(bench: Any, show: Callable[..., Any], array: np.ndarray) -> TensorPanel:
    bench.space.open_document(document_of(array))
    bench.space.debugger.flush()
    bench.run("continue_")
    bench.space.select(["y"])
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 400)
    return panel


def table(panel: TensorPanel) -> list[list[str]]:
    model = panel.model
    rows, columns = model.rowCount(), model.columnCount()
    return [[model.index(r, c).data() for c in range(columns)] for r in range(rows)]


def test_a_cube_is_sliced(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    panel = opened(bench, show, array)
    assert table(panel) == [["-0", "-1", "-2"], ["-3", "-4", "-5"]]
    assert "float32[4, 2, 3]" in panel.facts.text()
    assert "min -23" in panel.facts.text()
    (box,) = panel.slicer.findChildren(QSpinBox)
    box.setFocus()
    for _ in range(3):
        qtbot.keyClick(box, Qt.Key.Key_Up)
    assert table(panel) == [["-18", "-19", "-20"], ["-21", "-22", "-23"]]
    qtbot.keyClick(box, Qt.Key.Key_Up)
    assert box.value() == 3


def test_large_tensors_are_read_page_by_page(bench: Any, show: Callable[..., Any]) -> None:
    array = np.arange(200_000, dtype=np.float32).reshape(500, 400)
    panel = opened(bench, show, array)
    model = panel.model
    bench.bridge.asked.clear()
    number = 123 * 400 + 45
    model.index(123, 45).data()  # asks; the answer is there at the next look
    assert model.index(123, 45).data() == f"-{number}"
    (asked,) = [m for m in bench.bridge.asked if isinstance(m, Read)]
    assert (asked.refs, asked.offset, asked.limit) == (["y:0"], number // PAGE * PAGE, PAGE)
    assert model.index(499, 399).data() in ("…", "-199999")
    assert model.index(499, 399).data() == "-199999"


def test_the_model_is_consistent_for_every_rank(bench: Any, show: Callable[..., Any]) -> None:
    panel = opened(bench, show, np.zeros((2, 2), np.float32))
    tester = QAbstractItemModelTester(
        panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal
    )
    for shape in ((), (0,), (3,), (0, 2), (2, 3), (2, 0, 3), (2, 1, 3, 2)):
        bench.space.open_document(document_of(np.ones(shape, np.int32)))
        bench.space.debugger.flush()
        bench.run("continue_")
        bench.space.select(["y"])
        count = panel.model.rowCount(QModelIndex()) * panel.model.columnCount(QModelIndex())
        assert count == int(np.prod(shape[-2:])) * bool(np.prod(shape))
    del tester


def test_value_or_gradient(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 300)
    bench.space.select(["a"])
    assert "not computed" in panel.facts.text()
    bench.space.select(["c"])
    bench.run(f"run_to@0:{len(bench.space.program.steps)}")
    qtbot.mouseClick(panel.gradient, Qt.MouseButton.LeftButton)
    assert [float(row[0]) for row in table(panel)] == [0.567514, -0.994362]
    bench.space.select(["data"])
    assert "None" in panel.facts.text()
    assert table(panel) == []


def test_wrong_elements_stand_out(bench: Any, show: Callable[..., Any]) -> None:
    panel = opened(bench, show, np.array([1, np.nan, np.inf], np.float32))
    tones = [panel.model.cell(row, 0).tone for row in range(3)]
    assert tones == ["forward", "problem", "problem"]
    assert table(panel) == [["-1"], ["NaN"], ["-Inf"]]
    assert "1 NaN  1 Inf" in panel.facts.text()


def test_the_offending_index_is_marked(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("gather")
    bench.run("continue_")
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 300)
    bench.space.select(["indices"])
    fills = [panel.model.cell(row, 0).fill for row in range(3)]
    assert fills == ["", "", "problem_fill"]


def test_without_a_selection_it_shows_the_current_node(
    bench: Any, show: Callable[..., Any]
) -> None:
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 300)
    assert "Select a node" in panel.empty_text
    bench.open("tutorial")
    bench.run("run_to@d")
    assert panel.facts.text().startswith("d ")
