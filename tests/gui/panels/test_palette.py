"""The palette: families, search, and three ways to add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt

from core.ops.table import all_ops
from gui.panels.palette import MIME_TYPE, PalettePanel, palette_rows
from gui.panels.row_tree import walk


def test_every_op_type_is_there_once(bench: Any, show: Callable[..., Any]) -> None:
    show(PalettePanel(bench.space), 220)
    names = [row.name for row in walk(palette_rows(all_ops())) if row.name]
    assert sorted(names) == sorted(d.type for d in all_ops())


def test_search_puts_names_that_begin_with_it_first(bench: Any, show: Callable[..., Any]) -> None:
    show(PalettePanel(bench.space), 220)
    found = [row.name for row in palette_rows(all_ops(), "mul")]
    assert found[0] == "Mul"
    assert "MatMul" in found


def test_enter_and_double_click_add(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = show(PalettePanel(bench.space), 220)
    qtbot.keyClicks(panel.search, "gatherv2")
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert bench.views == [("add", "GatherV2")]
    qtbot.keyClick(panel.search, Qt.Key.Key_Down)
    qtbot.keyClick(panel.tree, Qt.Key.Key_Return)
    assert bench.views == [("add", "GatherV2")] * 2
    place = panel.tree.visualRect(panel.tree.rows.index(0, 0)).center()
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseDClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.views == [("add", "GatherV2")] * 3


def test_a_dragged_row_carries_its_type(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = show(PalettePanel(bench.space), 220)
    qtbot.keyClicks(panel.search, "softmaxcross")
    index = panel.tree.rows.index(0, 0)
    assert index.flags() & Qt.ItemFlag.ItemIsDragEnabled
    data = panel.tree.rows.mimeData([index])
    assert bytes(data.data(MIME_TYPE).data()).decode() == "SoftmaxCrossEntropyWithLogits"


def test_nothing_found_is_said(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = show(PalettePanel(bench.space), 220)
    qtbot.keyClicks(panel.search, "no such op")
    assert panel.tree.rows.rowCount() == 1
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert bench.views == []
