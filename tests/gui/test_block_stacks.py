"""Twelve equal blocks through the real window: one box, and the table of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstep.core.io.native import gradstep_file
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.view import GraphView
from gradstep.gui.panels.inspector.block_comparison import GRADIENT, BlockComparison
from tests.support.block_documents import decoder


def stacks(view: GraphView) -> list[str]:
    return [box.name for box in view.arrays.visible.boxes if box.stack]


@pytest.mark.slow
def test_from_the_stack_to_the_block_where_nan_begins(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "decoder.gradstep"
    gradstep_file.save(path, decoder(12, broken=5))
    driver.open(path)
    driver.settle()
    view: Any = driver.window.findChild(GraphView)
    assert stacks(view) == ["h/0 … 11"]
    driver.workspace.control("continue_")
    driver.wait(lambda: driver.workspace.stop.reason == "end", "the end of the run")
    number = view.arrays.visible.number["h/0/"]
    at = view.mapFromScene(view.box_rect(number).center())
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    table: Any = driver.window.findChild(BlockComparison)

    def tones() -> list[str]:
        return [table.model.cell(row, GRADIENT).tone for row in range(table.model.count())]

    wanted = ["problem"] * 5 + ["backward"] * 7
    driver.wait(lambda: tones() == wanted, "the norms of gradients")
    at = table.table.visualRect(table.model.index(5, GRADIENT)).center()
    QTest.mouseClick(table.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert stacks(view) == ["h/0 … 4", "h/6 … 11"]
    driver.settle()
    assert table.isVisible()
    assert {name[:4] for name in driver.workspace.selection} == {"h/5/"}
    rect = view.box_rect(view.arrays.visible.number["h/5/mlp/"])
    assert view.camera.visible.intersects(rect)
