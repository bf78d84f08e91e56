"""The doctor in the window: what `gradstep doctor` says, and what to type, to be copied."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from gradstep.core.errors import GradstepError
from gradstep.core.host.engine_client import local_engine
from gradstep.core.host.machine_report import MachineFact
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs import doctor_dialog, text_copying
from gradstep.gui.dialogs.doctor_dialog import DoctorDialog
from gradstep.gui.look import theme
from gradstep.gui.model.workspace import Workspace

EXTRAS = ["pip install 'gradstep[cuda13]'", "pip install 'gradstep[cuda12]'"]
FOUND = [
    MachineFact("Python", True, "3.11.7", "install Python 3.11 or later"),
    MachineFact("gpu", False, "CuPy is not installed.", "", EXTRAS),
    MachineFact("gpu:native", False, "CuPy is not installed.", "", EXTRAS),
    MachineFact(
        "SciPy", False, "not installed", "./dev setup --kernels", ["./dev setup --kernels"]
    ),
]


@pytest.fixture
def dialog(
    qtbot: Any, qapp: Any, silent: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DoctorDialog]:
    theme.apply(qapp, theme.DARK)
    monkeypatch.setattr(doctor_dialog, "examine", lambda engine: FOUND)
    space = Workspace()
    made = DoctorDialog(space)
    qtbot.addWidget(made)
    made.open()
    qtbot.waitUntil(lambda: made.findings == FOUND)
    yield made
    space.close()


def texts(dialog: DoctorDialog) -> list[str]:
    return [label.text() for label in dialog.findChildren(QLabel) if label.text()]


def press(dialog: DoctorDialog, name: str) -> QPushButton:
    button = dialog.findChild(QPushButton, f"doctor_dialog.{name}")
    assert button is not None
    button.click()
    return button


def test_what_is_lacking_comes_first_and_the_same_of_two_once(dialog: DoctorDialog) -> None:
    said = texts(dialog)
    assert said.index(doctor_dialog.LACKS) < said.index("SciPy") < said.index(doctor_dialog.HAS)
    assert said.index(doctor_dialog.HAS) < said.index("Python")
    assert "gpu, gpu:native" in said
    assert said.count("CuPy is not installed.") == 1
    assert "install Python 3.11 or later" not in said


def test_commands_are_copied(
    dialog: DoctorDialog, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_copying, "COPIED", 100)
    for command in ("pip install 'gradstep[cuda13]'", "./dev setup --kernels"):
        button = press(dialog, f"copy.{command}")
        assert QGuiApplication.clipboard().text() == command
        assert button.text() == "Copied"
        assert button.accessibleName() == f"Copy {command}"
    qtbot.waitUntil(lambda: button.text() == "Copy")


def test_long_commands_show_their_beginning(dialog: DoctorDialog) -> None:
    fields = dialog.findChildren(QLineEdit)
    assert [field.text() for field in fields] == [*EXTRAS, "./dev setup --kernels"]
    assert {field.cursorPosition() for field in fields} == {0}


def test_all_of_it_is_copied_for_a_report(dialog: DoctorDialog) -> None:
    press(dialog, "copy_all")
    text = QGuiApplication.clipboard().text()
    assert text.startswith("Gradstep ")
    assert all(finding.name in text for finding in FOUND)
    assert "--  SciPy" in text


def test_it_says_that_it_looks_and_can_look_again(
    dialog: DoctorDialog, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    go = threading.Event()

    def later(engine: Sequence[str]) -> list[MachineFact]:
        assert go.wait(30)
        return FOUND[:1]

    monkeypatch.setattr(doctor_dialog, "examine", later)
    again = press(dialog, "again")
    assert doctor_dialog.LOOKING.format(doctor_dialog.THIS) in texts(dialog)
    assert not again.isEnabled()
    go.set()
    qtbot.waitUntil(lambda: dialog.findings == FOUND[:1])
    qtbot.waitUntil(lambda: doctor_dialog.LACKS not in texts(dialog))
    assert doctor_dialog.LOOKING.format(doctor_dialog.THIS) not in texts(dialog)
    assert again.isEnabled()


def test_a_machine_that_cannot_be_asked_is_said(
    dialog: DoctorDialog, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    def fails(engine: Sequence[str]) -> list[MachineFact]:
        raise GradstepError("no such host", hint="check its name")

    monkeypatch.setattr(doctor_dialog, "examine", fails)
    again = press(dialog, "again")
    qtbot.waitUntil(lambda: "no such host: check its name" in texts(dialog))
    assert again.isEnabled()


@pytest.fixture(scope="module")
def said() -> list[dict[str, Any]]:
    """What the command says."""
    done = subprocess.run(
        [*local_engine()[:-2], "doctor", "--json"], capture_output=True, check=False, text=True
    )
    checks: list[dict[str, Any]] = json.loads(done.stdout)["checks"]
    return checks


def opened(driver: Driver) -> DoctorDialog:
    """It, once it knows what this machine has."""
    dialog = driver.window.findChild(DoctorDialog)
    assert dialog is not None
    driver.wait(lambda: bool(dialog.findings), "what this machine has")
    return dialog


@pytest.mark.slow
def test_the_window_says_what_the_command_line_says(
    tutorial: Driver, said: list[dict[str, Any]]
) -> None:
    tutorial.click("status.advice")
    dialog = opened(tutorial)
    assert [(f.name, f.ok, f.text, f.fix, f.commands) for f in dialog.findings] == [
        tuple(check.values()) for check in said
    ]
    assert sys.executable in dialog.workspace.bridge.command
    dialog.close()


@pytest.mark.slow
def test_it_is_in_the_menu(tutorial: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_dialog, "examine", lambda engine: FOUND)
    tutorial.window.actions_.run("help.doctor")
    dialog = opened(tutorial)
    assert dialog.findings == FOUND
    dialog.close()
