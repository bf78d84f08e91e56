"""The Help menu: the guide and its pages, the shortcuts that are in force, the exporters."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDockWidget,
    QFileDialog,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from gradstep.core.capture.exporter_files import exporter_text
from gradstep.gui.actions.action_table import BY_ID
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.guide_dialog import GuideDialog
from gradstep.gui.dialogs.guide_pages import FOLDER, PAGES
from gradstep.gui.dialogs.shortcuts_dialog import ShortcutsDialog
from gradstep.gui.look import theme


def shown(driver: Driver, kind: type[QWidget]) -> list[QWidget]:
    return [found for found in driver.window.findChildren(kind) if found.isVisible()]


def texts(page: QWidget) -> list[str]:
    return [label.text() for label in page.findChildren(QLabel) if label.isVisible()]


def test_every_page_is_listed_and_names_actions_as_the_menus_do(driver: Driver) -> None:
    """`parts` fails for the name of an action that there is not."""
    assert {path.stem for path in FOLDER.iterdir()} == {page.file for page in PAGES}
    for page in PAGES:
        parts = [text for text, _ in page.parts(driver.window.actions_)]
        assert parts
        assert not any("{" in text for text in parts), page.file
        assert all(button in BY_ID for button in page.buttons)
    first = " ".join(text for text, _ in PAGES[0].parts(driver.window.actions_))
    assert "**Run > Step** (F10)" in first


@pytest.mark.slow
def test_the_guide_stands_beside_the_work_and_there_is_one(tutorial: Driver) -> None:
    tutorial.window.actions_.run("help.first_steps")
    tutorial.window.actions_.run("help.bring_model")
    tutorial.settle()
    (guide,) = shown(tutorial, GuideDialog)
    assert isinstance(guide, GuideDialog)
    assert QApplication.activeModalWidget() is None
    assert guide.pages.currentIndex() == [page.file for page in PAGES].index("pytorch")
    code = next(f for f in guide.findChildren(QPlainTextEdit) if f.isVisible())
    next(b for b in guide.findChildren(QPushButton, f"{guide.name}.copy") if b.isVisible()).click()
    assert QGuiApplication.clipboard().text() == code.toPlainText()
    assert "gs.capture_torch(" in code.toPlainText()
    guide.list.setCurrentRow(len(PAGES) - 1)
    tutorial.settle()
    assert [b.text() for b in guide.findChildren(QPushButton) if b.isVisible()][-2:] == [
        "Open the log",
        "What this machine has…",
    ]
    QTest.keyClick(guide, Qt.Key.Key_Escape)
    assert not shown(tutorial, GuideDialog)


@pytest.mark.slow
def test_a_page_opens_the_tutorial(driver: Driver) -> None:
    """And not over the work of somebody who has a document open, which test_action_table sees."""
    driver.click("welcome.help.first_steps")
    (guide,) = shown(driver, GuideDialog)
    button = guide.findChild(QPushButton, "first_steps_dialog.help.tutorial")
    assert button is not None
    button.click()
    driver.wait(lambda: driver.workspace.is_open, "the tutorial")
    driver.settle()
    assert driver.workspace.name == "tutorial.gradstep"
    driver.close_popups()


@pytest.mark.slow
def test_shortcuts_are_found_by_word_and_by_key(tutorial: Driver) -> None:
    tutorial.key("F1")
    (page,) = shown(tutorial, ShortcutsDialog)
    assert isinstance(page, ShortcutsDialog)
    for typed, found, missing in (
        ("step into", "Step into", "Undo"),
        ("ctrl+z", "Undo", "Step into"),
        ("finite differences", "Check this gradient", "Undo"),  # only its tip says so
    ):
        page.search.setText(typed)
        tutorial.settle()
        assert found in texts(page), typed
        assert missing not in texts(page), typed
    page.search.setText("zzqq")
    tutorial.settle()
    assert "No key does “zzqq”." in texts(page)
    tutorial.close_popups()


@pytest.mark.slow
@pytest.mark.parametrize("id", ["first_steps", "shortcuts"])
def test_pages_that_are_open_follow_the_theme(tutorial: Driver, id: str) -> None:
    def picture() -> QImage:
        """Of what is below the field, in which a cursor blinks."""
        tutorial.settle()
        page = tutorial.window.findChild(QDialog, f"{id}_dialog")
        assert page is not None
        return page.grab(page.rect().adjusted(0, 80, 0, 0)).toImage()

    tutorial.window.actions_.run(f"help.{id}")
    dark = picture()
    tutorial.workspace.set_theme(theme.LIGHT)
    changed = picture()
    tutorial.close_popups()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    tutorial.window.actions_.run(f"help.{id}")
    assert dark != changed == picture()
    tutorial.close_popups()


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_the_exporter_is_saved(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, framework: str
) -> None:
    out, said = tmp_path / "exporter.py", list[str]()
    driver.workspace.message.connect(lambda level, text: said.append(f"{level}: {text}"))
    typed = lambda *_: (str(out.with_suffix("")), "Python (*.py)")  # noqa: E731
    monkeypatch.setattr(QFileDialog, "getSaveFileName", typed)
    driver.window.actions_.run(f"help.exporter_{framework}")
    driver.wait(lambda: bool(said), "the file")
    assert said[0].startswith("info: exporter.py is written")
    assert out.read_text(encoding="utf-8") == exporter_text(framework)


@pytest.mark.slow
def test_what_stands_beside_a_window_goes_with_it(tutorial: Driver) -> None:
    for id in ("help.first_steps", "help.shortcuts"):
        tutorial.window.actions_.run(id)
    tutorial.settle()
    dock = tutorial.window.findChild(QDockWidget, "output")
    assert dock is not None
    dock.setFloating(True)
    dock.show()
    beside = [*shown(tutorial, GuideDialog), *shown(tutorial, ShortcutsDialog), dock]
    assert len(beside) == 3
    tutorial.window.close()
    assert not any(widget.isVisible() for widget in beside)
