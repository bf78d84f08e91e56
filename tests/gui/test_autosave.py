"""Unsaved work survives: a copy is kept while there is any, and offered after a bad end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QLockFile

from core.io import store
from gui import autosave, commands
from gui.driver import Driver
from gui.main_window import MainWindow
from gui.settings import state_folder


def copies() -> list[Path]:
    return sorted((state_folder() / "unsaved").glob("*.gradstep"))


def add(driver: Driver, name: str) -> None:
    commands.add_node(driver.workspace, "Tanh", (0.0, 0.0), name)


@pytest.fixture
def left(tmp_path: Path, examples: Path) -> Path:
    """What a window that was killed left behind."""
    folder = state_folder() / "unsaved"
    folder.mkdir(parents=True)
    copy = folder / "1-1.gradstep"
    document = store.load(examples / "tutorial.gradstep")
    from core.io import edits

    store.save(copy, edits.add_operation(document, "Tanh", (0.0, 0.0), "kept")[0])
    copy.with_suffix(".json").write_text(f'{{"path": "{tmp_path / "mine.gradstep"}"}}')
    return copy


def test_nothing_is_kept_of_what_is_saved(tutorial: Driver) -> None:
    tutorial.window.autosave.save_now()
    assert copies() == []


def test_enough_edits_make_a_copy(tutorial: Driver) -> None:
    for number in range(autosave.EDITS):
        add(tutorial, f"t{number}")
    (copy,) = copies()
    assert "t3" in store.load(copy).graph


def test_saving_takes_the_copy_away(tutorial: Driver, tmp_path: Path) -> None:
    add(tutorial, "t")
    tutorial.window.autosave.save_now()
    assert len(copies()) == 1
    tutorial.workspace.path = tmp_path / "t.gradstep"
    assert tutorial.window.files.save()
    assert copies() == []


def test_a_good_end_leaves_nothing(tutorial: Driver) -> None:
    add(tutorial, "t")
    tutorial.window.autosave.save_now()
    tutorial.window.discard()
    assert copies() == []


def test_the_work_of_a_living_window_is_not_offered(tutorial: Driver) -> None:
    add(tutorial, "t")
    tutorial.window.autosave.save_now()
    assert list(autosave.left_behind()) == []


def test_recovered_work_comes_back_as_unsaved_work_of_its_file(
    driver: Driver, left: Path, tmp_path: Path
) -> None:
    driver.window.offer_recovery()
    banner = driver.window.banners.recovery
    assert banner.isVisible()
    assert "mine.gradstep" in banner.label.text()
    driver.click("banner.recovery.open")
    driver.wait(lambda: driver.workspace.is_open, "the recovered document")
    assert "kept" in driver.workspace.document.graph
    assert driver.workspace.path == tmp_path / "mine.gradstep"
    assert driver.window.isWindowModified()
    assert not left.exists()


def test_recovered_work_on_an_imported_graph_keeps_its_name(driver: Driver, left: Path) -> None:
    left.with_suffix(".json").write_text('{"name": "resnet.pb"}')
    driver.window.offer_recovery()
    assert "resnet.pb" in driver.window.banners.recovery.label.text()
    driver.click("banner.recovery.open")
    driver.wait(lambda: driver.workspace.is_open, "the recovered document")
    assert (driver.workspace.name, driver.workspace.path) == ("resnet.pb", None)
    driver.window.autosave.save_now()
    (copy,) = copies()
    assert json.loads(copy.with_suffix(".json").read_text())["name"] == "resnet.pb"


def test_discarded_work_is_gone(driver: Driver, left: Path) -> None:
    driver.window.offer_recovery()
    driver.click("banner.recovery.discard")
    assert copies() == []
    assert not driver.workspace.is_open


def test_a_locked_copy_is_somebodys(left: Path) -> None:
    lock = QLockFile(str(left.with_suffix(".lock")))
    assert lock.tryLock(0)
    assert list(autosave.left_behind()) == []
    lock.unlock()
    assert [found.copy for found in autosave.left_behind()] == [left]


def test_a_disk_that_is_full_does_not_interrupt(
    tutorial: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(autosave.atomic, "replace_file", full)
    add(tutorial, "t")
    tutorial.window.autosave.save_now()
    assert isinstance(tutorial.window, MainWindow)
    assert tutorial.window.isWindowModified()
