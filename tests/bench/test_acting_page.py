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


def test_each_note_is_of_an_action_that_is_measured_and_has_a_target() -> None:
    measured = {row.partition(" | ")[0] for row in acting_page.PAGE.read_text().split("\n| ")}
    told = {*acting_page.NOTES, *acting_page.DEAF_NOTES}
    assert {*told, *acting_page.LINES} <= measured
    assert all(any(acting.target_of(action, size) for size in acting.DEAF) for action in told)


def test_the_page_says_why_of_all_that_is_over_its_target() -> None:
    both, deaf = acting_page.PAGE.read_text().split("## How long the window is deaf at most")
    for part, notes in ((both, acting_page.NOTES), (deaf, acting_page.DEAF_NOTES)):
        rows = [row for row in part.splitlines() if row.startswith("| ") and "**" in row]
        over = {row.split(" | ")[0].removeprefix("| ") for row in rows}
        assert over, "of the largest graphs something always was"
        for action in over:
            found = [line for line in part.splitlines() if line.endswith(f": {notes[action]}")]
            assert any(action in line for line in found), action
