"""What the window refuses ends a measurement, which would wait for it for ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from gradstep.core.errors import GradstepError
from tests.bench.watched_window import WatchedWindow
from tests.support.forked_engine import Server, fork_engines, fork_readers


@pytest.fixture
def watched(
    qapp: QApplication, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WatchedWindow]:
    fork_engines(engine_server, monkeypatch)
    fork_readers(engine_server, monkeypatch)
    found = WatchedWindow(60)
    yield found
    found.close()


@pytest.mark.slow
def test_a_file_that_is_not_read_ends_it_with_the_reason(
    watched: WatchedWindow, tmp_path: Path
) -> None:
    path = tmp_path / "broken.pb"
    path.write_bytes(b"\xff" * 100)
    watched.space.open_path(path)
    with pytest.raises(GradstepError, match=r"^the window says: .*broken\.pb"):
        turn_for_ever(watched)


def turn_for_ever(watched: WatchedWindow) -> None:
    while True:
        watched.turn()
