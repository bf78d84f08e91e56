"""gradstep train on a terminal: a bar below the lines, and none where nobody would see it."""

from __future__ import annotations

import io
import sys

import pytest

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What standard error is from now on."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    return found


def test_a_bar_shows_how_far_it_is_and_is_gone_in_the_end(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = on_a_terminal(monkeypatch)
    found = cli("train", TUTORIAL, "--steps", 20)
    drawn = terminal.getvalue().split("\r")
    assert any("10/20" in text and "step/s" in text for text in drawn)
    assert drawn[-1].strip() == ""
    assert "\\u" not in terminal.getvalue()  # the cursor moves, nothing is spelled out
    assert [line.split()[1] for line in found.out.splitlines()[:2]] == ["1", "2"]


def test_json_has_none(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    assert cli("train", TUTORIAL, "--steps", 20, "--json").status == 0
    assert terminal.getvalue() == ""


def test_a_file_has_none(cli: Cli) -> None:
    assert cli("train", TUTORIAL, "--steps", 20).err == ""
