"""Docks behind others: left alone while nobody looks, and right again when somebody does."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QWidget

from gradstep.core.document.document_edits import rename_operation
from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame.docks import PANELS, Dock
from tests.support.deleting import delete
from tests.support.resizes import Resizes


def words(widget: QWidget) -> list[str]:
    """What its labels and its lists say."""
    labels = widget.findChildren(QLabel)
    said = [label.text() for label in labels if label.isVisibleTo(widget)]
    views = widget.findChildren(QAbstractItemView)
    for view in (view for view in views if view.isVisibleTo(widget)):  # no closed choice's
        model = view.model()
        said += _rows(model, QModelIndex()) if model is not None else []
    return sorted(filter(None, said))


def _rows(model: QAbstractItemModel, parent: QModelIndex) -> list[str]:
    found: list[str] = []
    for row in range(model.rowCount(parent)):
        cells = [model.index(row, column, parent) for column in range(model.columnCount(parent))]
        found += [str(cell.data() or "") for cell in cells]
        found += _rows(model, model.index(row, 0, parent))
    return found


@pytest.mark.slow
def test_each_says_when_it_is_shown_what_a_new_one_says(tutorial: Driver, qtbot: Any) -> None:
    docks, space = tutorial.window.docks.by_id, tutorial.workspace
    for place in PANELS:  # each is made, and then lies behind the last of its area
        docks[place.id].show()
        docks[place.id].raise_()
        QApplication.processEvents()
    tutorial.settle()
    behind = [place for place in PANELS if not docks[place.id].panel.is_seen]
    assert len(behind) > len(PANELS) / 2
    space.edit("Rename", rename_operation(space.document, "a", "product"))
    commands.toggle_stop(space, Edge("product", 1))
    commands.toggle_breakpoint(space, "e")
    space.select(["product"])
    for _ in range(3):
        space.control("step")
    tutorial.settle()
    for place in PANELS:
        docks[place.id].raise_()
        tutorial.settle()
        kind: Any = getattr(import_module(place.module), place.panel)
        new = kind(space)
        tutorial.settle()
        # These reckon with their width, or ask the engine only once they are seen.
        if place.id not in ("note", "profile", "tensor", "classes"):
            assert words(docks[place.id].panel) == words(new), place.id
        delete(new)


def test_what_is_made_behind_another_is_not_seen(tutorial: Driver) -> None:
    """Panels are made when nothing else is to do, which can be after the docks have shown."""
    docks = tutorial.window.docks.by_id
    seen = [
        place.id for place in PANELS if docks[place.id].is_made and docks[place.id].panel.is_seen
    ]
    assert set(seen) < set(docks)
    while tutorial.window.docks.prepare_one():
        pass
    assert [place.id for place in PANELS if docks[place.id].panel.is_seen] == seen
    assert not tutorial.workspace.debugger.shows_sessions
    docks["sessions"].raise_()
    tutorial.settle()
    assert docks["sessions"].panel.is_seen
    assert tutorial.workspace.debugger.shows_sessions


@pytest.mark.slow
def test_one_that_was_hidden_has_its_name_on_a_tab_alone(tutorial: Driver) -> None:
    window = tutorial.window
    dock = window.docks.by_id["precision"]
    assert dock.isHidden()
    window.docks.show("precision")
    tutorial.settle()
    assert window.tabifiedDockWidgets(dock)
    bar = dock.titleBarWidget()
    assert bar is not None
    assert not isinstance(bar, QLabel)
    assert not words(bar)


@pytest.mark.slow
def test_a_panel_that_is_left_by_itself_says_which_it_is(tutorial: Driver) -> None:
    """Its tab goes with the others; and comes back with them."""
    docks = tutorial.window.docks.by_id

    def title() -> str:
        bar = docks["palette"].titleBarWidget()
        return bar.text() if isinstance(bar, QLabel) and bar.isVisible() else ""

    assert title() == "", "its tab says it"
    for _ in range(2):
        docks["outline"].toggleViewAction().trigger()
        tutorial.settle()
        assert title() == "Palette"
        docks["outline"].toggleViewAction().trigger()
        tutorial.settle()
        assert title() == ""


def test_those_that_come_back_together_have_the_titles_that_they_had(
    tutorial: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each that comes or goes lays out all of them anew."""
    docks = tutorial.window.docks
    before = [dock.titleBarWidget() for dock in docks.by_id.values() if not dock.isHidden()]
    put: list[object] = []
    monkeypatch.setattr(Dock, "setTitleBarWidget", lambda self, bar: put.append(bar))
    for shown in (False, True):
        docks.set_shown(shown)
        tutorial.settle()
    assert not put
    assert [d.titleBarWidget() for d in docks.by_id.values() if not d.isHidden()] == before


def test_docks_that_come_together_are_laid_out_together(driver: Driver) -> None:
    """The first time, and as they were; what is amid them has the room that they leave."""
    window, sizes = driver.window, Resizes()
    sizes.follow([window.centralWidget()])
    for _ in range(2):
        sizes.count = 0
        window.docks.set_shown(True)
        assert sizes.count <= 2, "all of them, and then how much room each area has"
        window.docks.set_shown(False)
