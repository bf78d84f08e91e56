"""The palette: subjects and families, search, and three ways to add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt

from gradstep.core.ops.declare.table import all_ops
from gradstep.gui.panels.palette_panel import MIME_TYPE, PalettePanel, palette_rows
from gradstep.gui.panels.widgets.row_list import walk


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


def test_subjects_and_families_are_closed_at_first(bench: Any, show: Callable[..., Any]) -> None:
    rows = palette_rows(all_ops())
    assert [row.label for row in rows[:3]] == ["math", "arrays", "linear algebra"]
    assert not any(row.open for row in rows)
    assert not any(family.open for row in rows for family in row.children)
    reduction = next(f for f in rows[0].children if f.label == "sum and mean")
    assert int(reduction.detail) == len(reduction.children)
    assert "Sum" in [op.name for op in reduction.children]


def test_a_name_in_tf_finds_the_op(bench: Any, show: Callable[..., Any]) -> None:
    assert "DivNoNan" in [row.name for row in palette_rows(all_ops(), "div_no_nan")]
    assert "AddV2" in [row.name for row in palette_rows(all_ops(), "add elementwise")]


def test_the_palette_is_walked_by_keys_alone(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = show(PalettePanel(bench.space), 220)
    panel.search.setFocus()
    qtbot.keyClick(panel.search, Qt.Key.Key_Down)
    assert panel.tree.hasFocus()
    qtbot.keyClick(panel.tree, Qt.Key.Key_Right)  # opens math
    qtbot.keyClick(panel.tree, Qt.Key.Key_Down)
    assert panel.tree.current_row().label == "arithmetic"
    qtbot.keyClick(panel.tree, Qt.Key.Key_Right)  # opens it
    qtbot.keyClick(panel.tree, Qt.Key.Key_Down)
    assert panel.tree.current_row().name == "Add"
    qtbot.keyClick(panel.tree, Qt.Key.Key_Return)
    assert bench.views == [("add", "Add")]
    for _ in range(3):
        qtbot.keyClick(panel.tree, Qt.Key.Key_Up)
    assert panel.search.hasFocus()
    qtbot.keyClick(panel.search, Qt.Key.Key_Down)
    qtbot.keyClicks(panel.tree, "m")  # a letter searches
    assert panel.search.hasFocus()
    assert panel.search.text() == "m"


def test_a_family_stays_open_after_a_search(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = show(PalettePanel(bench.space), 220)
    subject = panel.tree.rows.index(0, 0)
    family = panel.tree.rows.index(0, 0, subject)
    for index in (subject, family):
        panel.tree.setExpanded(index, True)
    qtbot.keyClicks(panel.search, "tanh")
    panel.search.clear()
    family = panel.tree.rows.index(0, 0, panel.tree.rows.index(0, 0))
    assert panel.tree.isExpanded(family)
    assert not panel.tree.isExpanded(family.siblingAtRow(1))


def test_nothing_found_is_said(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = show(PalettePanel(bench.space), 220)
    qtbot.keyClicks(panel.search, "no such op")
    assert panel.tree.rows.rowCount() == 1
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert bench.views == []
