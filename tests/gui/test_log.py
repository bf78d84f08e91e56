"""The window's log file: what goes wrong, and nothing of what GRADSTEP_LOG asks for besides."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstep.core.host.process.logging_setup import VARIABLE, start_logging
from gradstep.gui.error_reporter import LOG, start_log


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("gradstep")
    handlers, level = [*root.handlers], ours.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers = handlers
    ours.setLevel(level)


@pytest.mark.parametrize("wish", ["", "debug"])
def test_the_file_has_what_went_wrong(
    wish: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger().handlers = []  # of pytest, too
    monkeypatch.setenv(VARIABLE, wish)
    monkeypatch.setattr("faulthandler.enable", lambda: None)  # wants a real standard error
    assert start_logging("window") is bool(wish)
    start_log(tmp_path)
    log = logging.getLogger("gradstep.host")
    log.debug("a message came")
    log.warning("it went wrong")
    written = (tmp_path / LOG).read_text()
    assert written.count("it went wrong") == 1
    assert "a message came" not in written
    err = capsys.readouterr().err
    assert err.count("it went wrong") == 1
    assert err.count("a message came") == bool(wish)
