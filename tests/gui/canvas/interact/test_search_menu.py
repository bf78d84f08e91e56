"""The search menu: what comes first, and a description that keeps to its place."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt

from gradstep.core.ops.declare.op_successors import SUCCESSORS
from gradstep.core.ops.declare.table import all_ops, find
from gradstep.gui.canvas.interact import search_entries
from gradstep.gui.canvas.interact.search_menu import MARGIN, WIDTH, SearchMenu
from gradstep.gui.panels.palette_panel import palette_rows
from tests.support.each_case import check_each


@pytest.fixture
def menu(canvas: Any) -> Any:
    canvas.open("tutorial")
    found = SearchMenu(search_entries.operations(canvas.space, (0.0, 0.0)), "Add", canvas.view)
    found.open_at(QPoint(0, 0))
    yield found
    found.close()


def titles(menu: SearchMenu, text: str) -> list[str]:
    menu.field.setText(text)
    return [menu.list.topLevelItem(i).text(0) for i in range(menu.list.topLevelItemCount())]


FIRST = {
    "add": "AddV2", "Add": "AddV2", "batchmatmul": "BatchMatMulV2", "mul": "Mul",
    "multiply": "Mul", "gather": "GatherV2", "reverse": "ReverseV2", "matmul": "MatMul",
    "queueclose": "QueueCloseV2", "matrixdiag": "MatrixDiagV3", "maxpool": "MaxPool",
}  # fmt: skip


def test_what_tensorflow_uses_today_comes_first(menu: SearchMenu) -> None:
    def check(text: str) -> None:
        assert titles(menu, text)[0] == FIRST[text]
        assert palette_rows(all_ops(), text)[0].name == FIRST[text]

    check_each(FIRST, check)


def test_what_has_a_successor_comes_after_all_that_are_called_so(menu: SearchMenu) -> None:
    named = [t for t in titles(menu, "add") if "add" in t.lower()]
    assert named.index("Add") > max(named.index(t) for t in named if t not in SUCCESSORS)
    menu.list.setCurrentItem(menu.list.findItems("Add", Qt.MatchFlag.MatchExactly)[0])
    assert "TensorFlow uses AddV2 in its place." in menu.help.text()


def test_successors_are_there_and_none_has_one() -> None:
    for old, new in SUCCESSORS.items():
        assert find(old) is not None
        assert find(new) is not None
        assert new not in SUCCESSORS


def test_no_description_runs_into_the_list(menu: SearchMenu) -> None:
    cut = 0
    for entry in menu.entries:
        menu.help.show_text(entry.help)
        room = QRect(0, 0, WIDTH - 2 * MARGIN - 2, 9999)
        metrics, wrap = menu.help.fontMetrics(), Qt.TextFlag.TextWordWrap
        needed = metrics.boundingRect(room, wrap, menu.help.text()).height()
        assert needed <= menu.help.height(), entry.title
        assert menu.help.y() > menu.list.geometry().bottom()
        cut += menu.help.toolTip() == entry.help
    assert cut < len(menu.entries) / 20, "nearly all are to be read whole"
