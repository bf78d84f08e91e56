"""A few cases of `./dev kill` with every run of the suite, and that it notices what it is for."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import pytest

from gradstep.core.io.disk import atomic_write, in_place_write
from tests.kill import saves
from tests.kill.tally import Tally
from tests.kill.window import Due, Life, _check, campaign


@pytest.mark.parametrize("kind", saves.KINDS)
@pytest.mark.slow
def test_saves_survive_every_call(kind: str) -> None:
    tally = Tally()
    saves.every_call(kind, tally)
    assert tally.is_clean, tally.notes
    assert tally.cases > 40


@pytest.mark.slow
def test_saves_survive_kills_at_random() -> None:
    tally = Tally()
    saves.at_random(5, random.Random(1), tally)
    assert (tally.cases, tally.lost) == (5, 0)


@pytest.mark.slow
def test_what_a_killed_window_had_is_offered_by_the_next() -> None:
    tally = campaign(1, 7, lambda line: None)
    assert tally.is_clean, tally.notes
    edits, recoveries = tally.notes[-1].split(", ")
    assert not edits.startswith("0 ")
    assert recoveries == "1 recoveries"


def _noticed(kind: str) -> bool:
    tally = Tally()
    saves._until_done(lambda number: saves._cut(kind, number, tally))
    saves._until_done(lambda number: saves._fail(kind, number, errno.EIO, tally))
    return not tally.is_clean


def test_a_save_that_does_not_sync_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(handle: int, data: bytes) -> None:
        os.write(handle, data)

    monkeypatch.setattr(atomic_write, "_fill", fill)
    assert _noticed("over a file")


def test_a_folder_that_is_not_synced_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place_write, "sync_folder", lambda folder: None)
    assert _noticed("over a file")
    assert _noticed("over a file with two names")


def test_writing_over_the_file_itself_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, data: bytes) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(handle, data)
        os.fsync(handle)
        os.close(handle)

    monkeypatch.setattr(saves, "replace_file", write)
    assert _noticed("over a file")


@pytest.mark.parametrize(
    ("found", "lost"), [("a", 2), ("b", 1), ("c", 0), ("d", 0), ("", 0), ("nothing", 2), ("?", 2)]
)
def test_edits_that_are_missing_are_counted(found: str, lost: int) -> None:
    """Of four states the third was a second old when the window was killed. A window that did not
    get so far as to say what it found tells nothing."""
    before = Life("nothing", [(0.0, "a"), (1.0, "b"), (2.0, "c"), (2.5, "d")])
    tally = Tally()
    import signal

    _check(Life(found), Due(before, 3.1, signal.SIGKILL), tally)
    assert tally.lost == lost
