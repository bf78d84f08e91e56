"""Python in a document: it does not run until the user has read it and decided that it may."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeKind
from gradstep.core.io.native import gradstep_file
from gradstep.core.program import sandbox
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.trust_dialog import TrustDialog

needs_sandbox = pytest.mark.skipif(bool(sandbox.why_not()), reason=sandbox.why_not())


@pytest.fixture
def foreign(tmp_path: Path, examples: Path) -> Path:
    """A document with Python that nobody has trusted yet."""
    document = gradstep_file.load(examples / "override_add.gradstep")
    for item in document.code.values():
        document = document_edits.set_code(
            document, replace(item, source=item.source + "# from afar\n")
        )
    path = tmp_path / "foreign.gradstep"
    gradstep_file.save(path, document)
    return path


def shown(driver: Driver) -> TrustDialog:
    driver.click("banner.restricted.review")
    found = driver.window.findChild(TrustDialog)
    assert found is not None
    return found


@pytest.mark.slow
def test_it_opens_restricted_and_shows_all_of_the_code(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    assert driver.window.banners.restricted.isVisible()
    assert "restricted" in driver.window.status.trust.text()
    dialog = shown(driver)
    texts = [view.toPlainText() for view in dialog.findChildren(QPlainTextEdit)]
    assert len(texts) == len(driver.workspace.document.code)
    assert all("# from afar" in text for text in texts)
    dialog.reject()


@pytest.mark.slow
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


@pytest.mark.slow
def test_trusting_it_runs_it_and_is_remembered(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    shown(driver)
    driver.click("trust_dialog.full")
    assert not driver.window.banners.restricted.isVisible()
    assert driver.window.status.trust.text() == "document trusted"
    driver.key("F5")
    assert driver.workspace.stop is not None
    assert driver.workspace.stop.reason == "end"
    driver.window.files.close()
    driver.open(foreign)
    assert driver.workspace.trusted


READS = 'def forward(c, k, d):\n    return open("/etc/passwd").read()\n'


@needs_sandbox
@pytest.mark.slow
def test_without_network_and_files_is_what_enter_means(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    shown(driver)
    QTest.keyClick(driver.window.findChild(TrustDialog), Qt.Key.Key_Return)
    driver.settle()
    assert driver.workspace.permission is Permission.CONFINED
    assert driver.workspace.bridge.confined
    assert "sandbox" in driver.window.status.trust.text()
    driver.key("F5")
    assert driver.workspace.stop is not None
    assert driver.workspace.stop.reason == "end"
    driver.window.files.close()
    driver.open(foreign)  # it is remembered
    driver.key("F5")
    assert driver.workspace.permission is Permission.CONFINED
    assert driver.workspace.stop.reason == "end"


@needs_sandbox
@pytest.mark.slow
def test_refused_then_allowed_at_the_same_step(driver: Driver, examples: Path) -> None:
    """The node says who refused it; the other answer runs it, in another process, from there."""
    document = gradstep_file.load(examples / "override_add.gradstep")
    item = next(i for i in document.code.values() if i.kind is CodeKind.PYFUNC)
    driver.workspace.open_document(document_edits.set_code(document, replace(item, source=READS)))
    driver.workspace.trust(Permission.CONFINED)
    driver.settle()
    driver.key("F5")
    stop, pid = driver.workspace.stop, driver.workspace.bridge.pid
    assert stop is not None
    assert stop.error is not None
    assert (stop.error.type, stop.error.node) == ("SandboxError", "e")
    driver.workspace.select(["e"])
    driver.click("inspector.error.trust")
    driver.click("trust_dialog.full")
    assert driver.workspace.bridge.pid != pid
    assert not driver.workspace.bridge.confined
    again = driver.workspace.stop
    assert (again.run, again.step) == (stop.run, stop.step)
    assert again.error is not None
    assert again.error.type != "SandboxError"  # it read a text, which is no tensor
    driver.workspace.view_requested.emit("trust", "")
    driver.settle()
    driver.click("trust_dialog.refuse")
    driver.key("F5")
    assert driver.workspace.stop.error.type == "UntrustedCodeError"
    driver.open(examples / "override_add.gradstep")
    driver.key("F5")
    assert driver.workspace.stop.reason == "end"


@pytest.mark.slow
def test_a_machine_without_a_sandbox_says_so(
    driver: Driver, foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "gradstep.core.program.sandbox.why_not", lambda: "the kernel has no Landlock"
    )
    driver.open(foreign)
    dialog = shown(driver)
    button = dialog.findChild(QPushButton, "trust_dialog.apply")
    assert not button.isEnabled()
    assert any("no Landlock" in label.text() for label in dialog.findChildren(QLabel))
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert driver.workspace.permission is Permission.REFUSED


@pytest.mark.slow
def test_one_changed_character_is_asked_about_again(driver: Driver, foreign: Path) -> None:
    driver.open(foreign)
    driver.workspace.trust()
    driver.settle()
    document = gradstep_file.load(foreign)
    item = next(iter(document.code.values()))
    gradstep_file.save(
        foreign, document_edits.set_code(document, replace(item, source=item.source + "\n"))
    )
    driver.open(foreign)
    assert not driver.workspace.trusted


@pytest.mark.slow
def test_the_examples_are_our_own(driver: Driver, examples: Path) -> None:
    driver.open(examples / "override_add.gradstep")
    assert driver.workspace.trusted
    assert not driver.window.banners.restricted.isVisible()
