"""Exporting: pictures and other formats from the window, and pictures without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from gradstep.core.io.format_table import formats
from gradstep.core.io.open_document import read
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.paint import picture_export

ROOT = Path(__file__).parents[2]
OVERRIDE = ROOT / "assets/examples/override_add.gradstep"


@pytest.mark.slow
def test_convert_writes_pictures(tmp_path: Path) -> None:
    """In a process of its own: it makes an application without a display."""
    out = tmp_path / "graph.png"
    command = [sys.executable, "main.py", "convert", str(OVERRIDE), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert QImage(str(out)).width() > 1000


@pytest.mark.slow
def test_the_window_exports(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.open(OVERRIDE)
    window = driver.window
    said: list[str] = []
    window.workspace.message.connect(lambda level, text: said.append(text))
    for name in ("a.png", "a.svg", "a.pb", "a.py", "a.dot"):
        out = tmp_path / name
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args, out=out: (str(out), ""))
        assert window.files.export(window.canvas.as_picture), name
        driver.wait(out.exists, name)
        driver.settle()
        assert out.stat().st_size > 100, name
    assert "e" in read(tmp_path / "a.pb").graph
    assert [text for text in said if text.startswith("a.pb is without the gradients of ")]
    assert not [text for text in said if text.startswith(("a.png is", "a.svg is", "a.dot is"))]
    assert "CustomAdd" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_every_format_that_is_drawn_can_be_painted() -> None:
    drawn = {suffix for each in formats() if each.is_drawn for suffix in each.suffixes}
    assert drawn == set(picture_export.SUFFIXES)


@pytest.mark.slow
def test_a_format_that_is_not_known_says_so(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    window = driver.window
    driver.open(OVERRIDE)
    window.workspace.message.connect(lambda level, text: said.append(text))
    out = tmp_path / "a.docx"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(out), ""))
    assert not window.files.export(window.canvas.as_picture)
    assert ".docx" in said[-1]
    assert ".py, .png, .svg" in said[-1]
    assert not out.exists()


@pytest.mark.slow
def test_save_as_always_writes_a_document(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.open(OVERRIDE)
    for name, written in (("g.pb", "g.pb.gradstep"), ("G.GradStep", "G.GradStep")):
        place = str(tmp_path / name)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args, place=place: (place, ""))
        assert driver.window.files.save_as()
        assert not (tmp_path / name).exists() or name == written
        driver.open(tmp_path / written)
        assert driver.workspace.path == tmp_path / written


@pytest.mark.slow
def test_save_as_asks_before_it_replaces_what_a_name_stands_for(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "g.gradstep"
    theirs.write_bytes(b"theirs")
    answers, suggested = [str(tmp_path / "g"), ""], []

    def chosen(window: object, title: str, place: str, filter: str) -> tuple[str, str]:
        suggested.append(place)
        return answers.pop(0), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", chosen)
    driver.open(OVERRIDE)
    assert not driver.window.files.save_as()
    assert suggested[1] == str(theirs)  # the dialog asks whether to replace that
    assert theirs.read_bytes() == b"theirs"
    answers += [str(tmp_path / "g"), str(theirs)]
    assert driver.window.files.save_as()
    assert read(theirs).title


@pytest.mark.slow
def test_an_export_without_a_suffix_is_of_the_chosen_kind(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tmp_path / "graph")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (out, "Graphviz (*.dot)"))
    driver.open(OVERRIDE)
    assert driver.window.files.export(driver.window.canvas.as_picture)
    driver.wait((tmp_path / "graph.dot").exists, "the file")
