"""Where trainings listen: only in folders of the user's own that are closed to others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstep.core.capture import training_sockets as sockets
from gradstep.core.errors import GradstepError
from tests.support.fake_training import FakeTraining, socket_folder


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short path: one of a socket has 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="gs") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def test_sockets_are_found_in_both_places(runtime: Path) -> None:
    first = FakeTraining(socket_folder(runtime), 11)
    other = FakeTraining(runtime / f"gradstep-watch-{os.geteuid()}", 12)
    (first.path.parent / "notes.txt").write_text("")
    (first.path.parent / "13.sock").write_text("a file, and no socket")
    assert sockets.training_sockets() == [first.path, other.path]
    assert [sockets.pid_of(path) for path in sockets.training_sockets()] == [11, 12]
    first.end()
    other.end()


def test_where_nothing_was_watched_there_is_nothing(runtime: Path) -> None:
    assert sockets.training_sockets() == []


def test_a_folder_open_to_others_is_refused(runtime: Path) -> None:
    folder = socket_folder(runtime)
    folder.mkdir(parents=True)
    folder.chmod(0o750)
    with pytest.raises(GradstepError, match="open to others") as found:
        sockets.training_sockets()
    assert found.value.hint == f"remove it, or close it: chmod 700 {folder}"


def test_a_folder_of_another_user_is_refused(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket_folder(runtime).mkdir(mode=0o700, parents=True)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(GradstepError, match="not a folder of your own"):
        sockets.training_sockets()


def test_a_link_to_a_folder_is_refused(runtime: Path) -> None:
    real = runtime / "elsewhere"
    real.mkdir(mode=0o700)
    socket_folder(runtime).parent.mkdir()
    socket_folder(runtime).symlink_to(real)
    with pytest.raises(GradstepError, match="not a folder of your own"):
        sockets.training_sockets()


def test_only_sockets_of_trainings_are_removed(runtime: Path) -> None:
    training = FakeTraining(socket_folder(runtime), 11)
    training.end()
    elsewhere = runtime / "12.sock"
    elsewhere.write_text("not ours")
    sockets.remove_stale(elsewhere)
    sockets.remove_stale(training.path)
    assert elsewhere.exists()
    assert not training.path.exists()
