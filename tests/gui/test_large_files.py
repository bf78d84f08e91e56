"""Files of strangers in the window: read elsewhere, given up, refused, and asked about."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from gradstep.gui.automation.driver import Driver


@pytest.fixture
def slow_file(tmp_path: Path) -> Path:
    """A graph that takes many seconds to read."""
    path = tmp_path / "slow.pbtxt"
    path.write_text("".join(f'node {{ name: "n{i}" op: "NoOp" }}\n' for i in range(250_000)))
    return path


def reading(driver: Driver, path: Path) -> int:
    """Begin to open a file; the number of the process that reads it, once the window says so."""
    driver.window.files.open(path)
    page = driver.window.findChild(object, "opening")
    driver.wait(page.isVisible, "the window to say that it opens a file")
    process = driver.workspace.reader._process
    assert process is not None
    return process.pid


def is_there(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="processes are looked for in /proc")
@pytest.mark.slow
def test_a_file_that_is_given_up_or_takes_its_process_with_it(
    tutorial: Driver, reading_process: None, slow_file: Path
) -> None:
    document = tutorial.workspace.document
    pid = reading(tutorial, slow_file)
    tutorial.click("opening.cancel")
    tutorial.wait(lambda: not is_there(pid), "the process to end")
    assert tutorial.window.canvas.isVisible()
    os.kill(reading(tutorial, slow_file), signal.SIGSEGV)
    tutorial.settle()
    said = tutorial.window.banners.message.label.text()
    assert "slow.pbtxt: the process that reads files ended (killed by SIGSEGV)" in said
    pid = reading(tutorial, slow_file)
    tutorial.window.files.open(Path(slow_file).with_name("none.gradstep"))
    tutorial.wait(lambda: not is_there(pid), "the process of the other file to end")
    tutorial.settle()
    assert "no such file" in tutorial.window.banners.message.label.text()
    assert tutorial.workspace.document is document


@pytest.mark.slow
def test_the_window_asks_before_a_file_takes_much(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "large.pbtxt"
    path.write_text('node { name: "n" op: "NoOp" }\n' * 1 + "#" * 200_000)
    driver.window.files.open(path, limit=1 << 20)
    driver.wait(lambda: QApplication.activeModalWidget() is not None, "the question")
    question = driver.window.findChild(QLabel, "largefile.question").text()
    assert question == "large.pbtxt needs 19 MiB of memory. Open it anyway?"
    driver.click("largefile.cancel")
    assert not driver.workspace.is_open
    driver.window.files.open(path, limit=1 << 20)
    driver.wait(lambda: QApplication.activeModalWidget() is not None, "the question")
    driver.click("largefile.apply")
    driver.wait(lambda: driver.workspace.is_open, "the file to open")
    assert "n" in driver.workspace.document.graph
