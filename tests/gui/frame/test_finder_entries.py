"""The command palette, the node finder and the page of shortcuts."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Graph, Operation
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.finder import Finder
from gradstep.gui.frame import finder_entries
from gradstep.gui.frame.finder_entries import _Nodes, command_palette
from gradstep.gui.model.background_work import is_under_way
from gradstep.gui.model.workspace import Workspace


def opened(driver: Driver, name: str) -> Finder:
    driver.wait(lambda: driver.window.findChild(Finder, name) is not None, name)
    finder = driver.window.findChild(Finder, name)
    assert finder is not None
    return finder


@pytest.mark.slow
def test_the_key_opens_it_and_enter_runs_the_best_match(tutorial: Driver) -> None:
    tutorial.key("Ctrl+Shift+P")
    finder = opened(tutorial, "palette")
    QTest.keyClicks(finder.field, "step")
    assert finder.texts()[0] == "Run: Step"
    QTest.keyClick(finder.field, Qt.Key.Key_Return)
    tutorial.settle()
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.step > 0


@pytest.mark.slow
def test_it_shows_keys_and_puts_the_impossible_last(tutorial: Driver) -> None:
    finder = command_palette(tutorial.workspace, tutorial.window.actions_, tutorial.window)
    entries = finder._offer.find("", 10_000)
    assert next(e.detail for e in entries if e.text == "Run: Step") == "F10"
    enabled = [entry.enabled for entry in entries]
    assert enabled == sorted(enabled, reverse=True)
    finder.close()


@pytest.mark.slow
def test_recently_used_come_first(tutorial: Driver) -> None:
    finder = command_palette(tutorial.workspace, tutorial.window.actions_, tutorial.window)
    next(e for e in finder._offer.find("", 10_000) if e.text == "View: Show everything").run()
    finder.close()
    again = command_palette(tutorial.workspace, tutorial.window.actions_, tutorial.window)
    assert again.texts()[0] == "View: Show everything"
    again.close()


@pytest.mark.slow
def test_nothing_found_runs_nothing(tutorial: Driver) -> None:
    finder = command_palette(tutorial.workspace, tutorial.window.actions_, tutorial.window)
    finder.field.setText("zzzzqq")
    assert finder.texts() == []
    QTest.keyClick(finder.field, Qt.Key.Key_Return)
    finder.close()


@pytest.mark.slow
def test_a_node_is_found_and_selected(tutorial: Driver) -> None:
    tutorial.key("Ctrl+F")
    finder = opened(tutorial, "node_finder")
    tall = finder.height()
    QTest.keyClicks(finder.field, "loss")
    tutorial.settle()
    assert finder.height() < tall / 2, "as high as what it has found"
    QTest.keyClick(finder.field, Qt.Key.Key_Return)
    assert tutorial.workspace.selection == ("loss",)


@pytest.mark.slow
def test_the_page_of_shortcuts_has_every_key(tutorial: Driver) -> None:
    from gradstep.gui.actions.action_record import shown_key
    from gradstep.gui.actions.action_table import ACTIONS
    from gradstep.gui.dialogs.shortcuts_dialog import ShortcutsDialog

    page = ShortcutsDialog(tutorial.workspace, tutorial.window)
    text = " ".join(label.text() for label in page.findChildren(QLabel))
    assert all(shown_key(key) in text for action in ACTIONS for key in action.keys)
    page.show()
    titles = [t for t in page.findChildren(QLabel) if t.text() in {a.title for a in ACTIONS}]
    for column in {title.x() for title in titles}:
        ys = sorted(title.y() for title in titles if title.x() == column)
        gaps = {b - a for a, b in pairwise(ys)}
        assert len([gap for gap in gaps if gap < 30]) == 1, "one height for all rows"
    page.close()


@pytest.mark.slow
def test_what_fits_nothing_says_so(tutorial: Driver) -> None:
    finder = command_palette(tutorial.workspace, tutorial.window.actions_, tutorial.window)
    finder.show_over(tutorial.window)
    assert not finder.nothing.isVisible()
    finder.field.setText("zzzzqq")
    assert finder.nothing.isVisible()
    assert finder.nothing.text().startswith("Nothing fits")
    assert not finder.list.isVisible()
    finder.field.setText("fit")
    assert finder.list.isVisible()
    finder.close()


def test_all_scopes_are_found_each_after_those_around_it(workspace: Workspace) -> None:
    names = ["x", "a/b/c/op", "a/b/op", "a", "d/e/op", "a/b/c/other", "d/f/g/op"]
    graph = Graph.of(Operation(name, "NoOp") for name in names)
    workspace.open_document(Document(graph=graph))
    nodes = _Nodes(workspace)
    assert [entry.text for entry in nodes.find("", 3)] == names[:3]
    scopes = ["a/b", "a/b/c", "d", "d/e", "d/f", "d/f/g"]  # "a" is an operation
    assert [entry.text for entry in nodes.find("", 50)] == [*names, *scopes]
    assert next(entry.text for entry in nodes.find("g", 50)) == "d/f/g"


def test_all_names_are_brought_together_beside_the_first_key(
    workspace: Workspace, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[threading.Thread] = []
    of = finder_entries._Searched.of

    def watched(graph: Graph) -> Any:
        made.append(threading.current_thread())
        return of(graph)

    monkeypatch.setattr(finder_entries._Searched, "of", watched)
    graph = Graph.of(Operation(f"a/n{i}", "NoOp") for i in range(200))
    workspace.open_document(Document(graph=graph))
    window = QWidget()
    qtbot.addWidget(window)
    finder = finder_entries.node_finder(workspace, window)
    qtbot.waitUntil(lambda: not is_under_way())
    finder.field.setText("n19")
    assert finder.texts()[0] == "a/n19"
    assert len(made) == 1, "the key looks at what was found"
    assert made[0] is not threading.main_thread()
    finder.close()
