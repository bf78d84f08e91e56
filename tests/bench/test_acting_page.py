"""The page of what actions in the window cost; nothing is timed here."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.bench import acting, acting_page


def costs(factor: float) -> dict[str, dict[str, float]]:
    one = {"window": 0.01 * factor, "engine": 0.02 * factor, "deaf": 0.04 * factor}
    return {
        "edit: stop": one,
        "undo: stop": one,
        "edit: rename": one,
        "look: hover": {"window": 0.001, "engine": 0.0, "deaf": 0.001},
    }


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setattr(acting_page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(acting_page, "PICTURE", tmp_path / "page.svg")
    notes = dict.fromkeys(["edit: stop", "edit: rename"], "it is slow")
    notes |= {"undo: stop": "it is undone", "look: hover": "never"}
    monkeypatch.setattr(acting_page, "NOTES", notes)
    deaf = {"edit: rename": "it is deaf", "look: hover": "never"}
    monkeypatch.setattr(acting_page, "DEAF_NOTES", deaf)
    found = {1_000: costs(1), 10_000: costs(10)}
    acting_page.write(found, acting.target_of, lambda _, size: acting.DEAF.get(size), 4)
    ElementTree.parse(acting_page.PICTURE)
    return acting_page.PAGE.read_text()


def test_what_is_over_its_target_is_marked_and_explained(written: str) -> None:
    rows = [line for line in written.splitlines() if line.startswith("| edit: stop")]
    assert rows == [
        "| edit: stop | **30** (16) | **300** (60) | 1.00 |",
        "| edit: stop | 40 | **400** (100) | 1.00 |",  # deaf
    ]
    assert "| look: hover | 1 | 1 |  |" in written
    assert "- edit: stop, edit: rename: it is slow\n- undo: stop: it is undone" in written
    assert "\n- edit: rename: it is deaf\n" in written
    assert written.index("it is slow") < written.index("deaf at most") < written.index("it is deaf")
    assert "never" not in written
    assert "medians of 4 rounds" in written


def test_the_notes_are_of_actions_that_there_are() -> None:
    kinds = {"open", "edit", "undo", "look", "step", "inject"}
    told = (*acting_page.NOTES, *acting_page.DEAF_NOTES, *acting_page.LINES)
    assert {action.partition(":")[0] for action in told} <= kinds
