"""docs/adding-a-panel.md, followed to the letter: its panel, in the window by its row."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstep.gui import panels
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame import docks
from gradstep.gui.look import theme

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-panel.md").read_text(encoding="utf-8")
ROW, SOURCE = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(MODULE,) = re.findall(r"In `gui/panels/(\w+).py`", PAGE)


@pytest.fixture(autouse=True)
def _added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's module beside the other panels, and its row behind theirs."""
    (tmp_path / f"{MODULE}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(panels, "__path__", [*panels.__path__, str(tmp_path)])
    monkeypatch.setattr(docks, "PANELS", (*docks.PANELS, eval(ROW, vars(docks))))
    yield
    sys.modules.pop(f"{panels.__name__}.{MODULE}", None)


@pytest.mark.new_window
@pytest.mark.slow
def test_the_pages_panel_is_in_the_window(driver: Driver) -> None:
    window, space = driver.window, driver.workspace
    driver.open(ROOT / "assets" / "examples" / "tutorial.gradstep")
    dock = window.docks.by_id["types"]
    assert window.dockWidgetArea(dock) == docks.RIGHT
    assert dock.toggleViewAction().text() == "Types"
    window.docks.show("types")
    panel = dock.panel
    driver.wait(panel.isVisible, "the panel")
    assert panel.accessibleName() == "Types"
    graph = space.document.graph
    assert sum(count for _, count in panel.model.counts) == len(graph)
    row, (type, count) = next(enumerate(panel.model.counts))
    assert count == sum(op.type == type for op in graph) > 1
    place = panel.table.visualRect(panel.model.index(row, 1)).center()
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [graph[name].type for name in space.selection] == [type] * count

    for look in (theme.LIGHT, theme.DARK):
        space.set_theme(look)
        assert not panel.grab().isNull()  # an unknown colour would be an error while it paints
    space.close_document()
    assert panel.empty_text.startswith("The types of the graph's operations")
