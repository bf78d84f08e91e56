"""While a file is read the window says so, and never shows two documents at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.io import open_document as reading
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame import banners
from gradstep.gui.frame.banners import Banners
from gradstep.gui.frame.main_window import BLINK
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.row_list import walk
from tests.support.deleting import delete


class Slow:
    """Reads when it is let."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.fails = False
        self._read = reading.read

    def __call__(self, path: Path) -> Document:
        if path.name == "tutorial.gradstep":
            return self._read(path)
        assert self.go.wait(30)
        if self.fails:
            raise GradstepError(f"{path.name} is damaged")
        return self._read(path)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    reader = Slow()
    monkeypatch.setattr(reading, "read", reader)
    yield reader
    reader.go.set()


def begin(driver: Driver, path: Path) -> None:
    """Open a file that takes its time, and wait until the window says so."""
    driver.window.files.open(path)
    assert driver.window.status.state.text() == f"Opening {path.name}"
    page = driver.window.findChild(object, "opening")
    driver.wait(page.isVisible, "the window to say that it opens a file")


@pytest.mark.slow
def test_a_slow_file_is_named_and_the_old_document_is_out_of_the_way(
    tutorial: Driver, slow: Slow, examples: Path
) -> None:
    window = tutorial.window
    room = window.centralWidget().size()
    begin(tutorial, examples / "gather.gradstep")
    assert window.centralWidget().size() == room, "nothing else moves for it"
    assert window.findChild(object, "opening.name").text() == "Opening gather.gradstep…"
    docks = window.docks
    docks.show("palette")  # which is not made before
    made = [dock.panel for dock in docks.by_id.values() if dock.is_made]
    assert docks.by_id["palette"].panel in made
    assert not any(panel.isVisible() for panel in made)
    assert not window.canvas.isVisible()
    assert not window.toolbar.isEnabled()
    slow.go.set()
    tutorial.settle()
    assert window.toolbar.isEnabled()
    assert docks.by_id["palette"].panel.isVisible()
    assert tutorial.workspace.name == "gather.gradstep"
    assert window.canvas.isVisible()
    assert window.docks.by_id["outline"].isVisible()


@pytest.mark.slow
def test_opening_can_be_given_up(tutorial: Driver, slow: Slow, examples: Path) -> None:
    document = tutorial.workspace.document
    begin(tutorial, examples / "gather.gradstep")
    tutorial.window.findChild(QPushButton, "opening.cancel").click()
    assert tutorial.window.canvas.isVisible()
    slow.go.set()
    tutorial.settle()
    assert tutorial.workspace.document is document
    assert tutorial.window.toolbar.isEnabled()
    assert tutorial.window.docks.by_id["outline"].isVisible()
    assert tutorial.window.docks.by_id["outline"].panel.isVisible()


@pytest.mark.slow
def test_a_file_that_fails_leaves_the_old_document(
    tutorial: Driver, slow: Slow, examples: Path
) -> None:
    slow.fails = True
    begin(tutorial, examples / "gather.gradstep")
    slow.go.set()
    tutorial.settle()
    assert tutorial.window.canvas.isVisible()
    assert tutorial.workspace.name == "tutorial.gradstep"
    assert "damaged" in tutorial.window.banners.message.label.text()


@pytest.mark.slow
def test_the_last_of_two_files_is_shown(driver: Driver, slow: Slow, examples: Path) -> None:
    driver.window.files.open(examples / "gather.gradstep")
    driver.open(examples / "tutorial.gradstep")
    slow.go.set()
    driver.settle()
    assert driver.workspace.name == "tutorial.gradstep"


@pytest.mark.slow
def test_a_new_document_meanwhile_stays(tutorial: Driver, slow: Slow, examples: Path) -> None:
    begin(tutorial, examples / "gather.gradstep")
    tutorial.key("Ctrl+N")
    assert tutorial.workspace.name == "untitled.gradstep"
    slow.go.set()
    tutorial.settle()
    QTest.qWait(BLINK + 50)
    assert tutorial.workspace.name == "untitled.gradstep"
    assert tutorial.window.canvas.isVisible()


@pytest.mark.slow
def test_no_panel_shows_another_document(tutorial: Driver, examples: Path) -> None:
    """Not even until the next turn of the event loop, in which the canvas is painted."""
    space, docks = tutorial.workspace, tutorial.window.docks
    space.select(["d"])
    tutorial.settle()
    inspector, outline = docks.by_id["inspector"].panel, docks.by_id["outline"].panel
    assert inspector.empty_text == ""
    other = reading.read(examples / "gather.gradstep")
    space.open_document(other)
    assert inspector.empty_text != ""
    names = {row.name for row in walk(outline.tree.rows.shown)}
    assert names >= set(other.graph.operations)
    assert not names & {"d", "c", "loss"}


@pytest.fixture
def waiting(silent: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Workspace, Banners]]:
    """A workspace whose engine never answers, and does not have to be waited for."""
    monkeypatch.setattr(banners, "PATIENCE", 0)
    space = Workspace()
    strips = Banners(space)
    yield space, strips
    space.close()
    for strip in strips.all:
        delete(strip)  # in view, it would be in the way of the mouse of other tests


def busy(space: Workspace, strips: Banners, qtbot: Any) -> str:
    """What the engine is at, and has been for so long that a strip would say so."""
    space.debugger.flush()
    space.bridge.state = "busy"
    space.engine_changed.emit("busy")
    qtbot.waitUntil(lambda: not strips._patience.isActive())
    return space.engine_doing


def test_preparing_a_graph_offers_no_way_out_that_is_none(waiting: Any, qtbot: Any) -> None:
    space, strips = waiting
    space.open_document(Document())
    commands.add_node(space, "VariableV2", (0.0, 0.0), "v")
    assert busy(space, strips, qtbot) == "Preparing"
    assert strips.engine.isHidden()


def test_a_run_can_be_paused(waiting: Any, qtbot: Any) -> None:
    space, strips = waiting
    space.control("continue_")
    assert busy(space, strips, qtbot) == "Running"
    assert strips.engine.label.text() == f"{banners.LONG} {banners.PAUSE}"


def test_a_function_of_the_documents_may_never_return(waiting: Any, qtbot: Any) -> None:
    space, strips = waiting
    code = {"f": CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return x\n")}
    space.open_document(Document(code=code))
    space.trust()
    assert busy(space, strips, qtbot) == "Preparing"
    assert strips.engine.label.text() == f"{banners.LONG} {banners.ENDLESS}"
