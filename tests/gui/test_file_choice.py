"""File dialogs start where the user was last with the like, and never by chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog

from gradstep.core.io.native import gradstep_file
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.file_choice import remember_folder, start_folder
from gradstep.gui.model.settings import settings


class Dialogs:
    """What the user names in the next dialog, and where the last one started."""

    def __init__(self) -> None:
        self.answer = ""
        self.start = Path()

    def __call__(self, window: object, title: str, start: str, filter: str) -> tuple[str, str]:
        self.start = Path(start)
        return self.answer, ""


@pytest.fixture
def dialogs(monkeypatch: pytest.MonkeyPatch) -> Dialogs:
    asked = Dialogs()
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, asked)
    return asked


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "Documents"
    folder.mkdir()
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _: str(folder))
    return folder


@pytest.mark.slow
def test_at_first_it_is_the_folder_for_documents(
    driver: Driver, dialogs: Dialogs, documents: Path
) -> None:
    driver.window.files.open()
    assert dialogs.start == documents


@pytest.mark.slow
def test_each_kind_has_its_own_folder(
    tutorial: Driver, dialogs: Dialogs, documents: Path, tmp_path: Path
) -> None:
    files, picture = tutorial.window.files, tutorial.window.canvas.as_picture
    places = {name: tmp_path / name for name in ("saved", "exported", "opened")}
    for place in places.values():
        place.mkdir()
    files.export(picture)
    assert dialogs.start == documents / "tutorial.png"
    dialogs.answer = str(places["saved"] / "mine.gradstep")
    assert files.save_as()
    dialogs.answer = ""
    files.export(picture)
    assert dialogs.start == places["saved"] / "mine.png", "where the user was last at all"
    dialogs.answer = str(places["exported"] / "mine.dot")
    assert files.export(picture)
    gradstep_file.save(places["opened"] / "x.gradstep", tutorial.workspace.document)
    dialogs.answer = str(places["opened"] / "x.gradstep")
    assert files.open()
    tutorial.settle()
    dialogs.answer = ""
    files.export(picture)
    assert dialogs.start == places["exported"] / "x.png"
    files.open()
    assert dialogs.start == places["opened"]
    files.save_as()
    assert dialogs.start == places["opened"] / "x.gradstep", "a document's own file"


@pytest.mark.slow
def test_a_file_from_the_command_line_counts_and_an_example_does_not(
    driver: Driver, dialogs: Dialogs, documents: Path, tmp_path: Path, examples: Path
) -> None:
    driver.open(examples / "gather.gradstep")
    driver.window.files.open()
    assert dialogs.start == documents
    path = tmp_path / "mine.gradstep"
    gradstep_file.save(path, driver.workspace.document)
    driver.open(path)
    driver.window.files.open()
    assert dialogs.start == tmp_path


def test_a_folder_that_is_gone_is_not_taken(
    qapp: Any, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_folder("open", tmp_path / "gone" / "x.gradstep")
    assert start_folder("open") == documents
    settings().add_folder("open", "not even\0a path")
    documents.rmdir()
    assert start_folder("open") == Path.home()
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _: "")
    assert start_folder("export") == Path.home()
