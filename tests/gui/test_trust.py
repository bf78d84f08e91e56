"""Python in a document: it does not run until the user has read it and decided that it may."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPlainTextEdit

from core.io import edits, store
from gui.dialogs.trust import TrustDialog
from gui.driver import Driver


@pytest.fixture
def foreign(tmp_path: Path, examples: Path) -> Path:
    """A document with Python that nobody has trusted yet."""
    document = store.load(examples / "override_add.gradstep")
    for item in document.code.values():
        document = edits.set_code(document, replace(item, source=item.source + "# from afar\n"))
    path = tmp_path / "foreign.gradstep"
    store.save(path, document)
    return path


def shown(driver: Driver) -> TrustDialog:
    driver.click("banner.restricted.review")
    found = driver.window.findChild(TrustDialog)
    assert found is not None
    return found


def test_it_opens_restricted_and_shows_all_of_the_code(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    assert driver.window.banners.restricted.isVisible()
    assert "restricted" in driver.window.status.trust.text()
    dialog = shown(driver)
    texts = [view.toPlainText() for view in dialog.findChildren(QPlainTextEdit)]
    assert len(texts) == len(driver.workspace.document.code)
    assert all("# from afar" in text for text in texts)
    dialog.reject()


def test_keeping_it_restricted_runs_nothing(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    shown(driver).reject()
    assert not driver.workspace.trusted
    driver.key("F5")
    assert driver.workspace.stop is not None
    error = driver.workspace.stop.error
    assert error is not None
    assert error.type == "UntrustedCodeError"
    assert error.node == "e"


def test_trusting_it_runs_it_and_is_remembered(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    shown(driver).finish()
    driver.settle()
    assert not driver.window.banners.restricted.isVisible()
    assert driver.window.status.trust.text() == "document trusted"
    driver.key("F5")
    assert driver.workspace.stop is not None
    assert driver.workspace.stop.reason == "end"
    driver.window.files.close()
    driver.open(foreign)
    assert driver.workspace.trusted


def test_one_changed_character_is_asked_about_again(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    driver.workspace.trust()
    driver.settle()
    document = store.load(foreign)
    item = next(iter(document.code.values()))
    store.save(foreign, edits.set_code(document, replace(item, source=item.source + "\n")))
    driver.open(foreign)
    assert not driver.workspace.trusted


def test_the_examples_are_our_own(driver: Driver, examples: Path) -> None:
    driver.open(examples / "override_add.gradstep")
    assert driver.workspace.trusted
    assert not driver.window.banners.restricted.isVisible()
