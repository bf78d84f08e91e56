"""The real window with a real engine process, and settings that no test leaves to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt

from gradstep.core.document.document import Document
from gradstep.core.host import file_reader, file_worker
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.disk.memory_budget import DEFAULT
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.protocol.messages import Message
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame import main_window
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.frame.window_placement import WANTED
from gradstep.gui.look import theme
from gradstep.gui.model.engine_bridge import EngineBridge
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace
from tests.support import forked_engine, known_checks
from tests.support.deleting import delete
from tests.support.forked_engine import Server
from tests.support.kept_window import WindowKeeper

CHECKED_ONCE = known_checks.handlers(EngineService._HANDLERS)
EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"


@pytest.fixture(autouse=True)
def fork_engines(
    request: pytest.FixtureRequest, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines are forked, except where how they start is a test's subject."""
    if request.node.get_closest_marker("engine_process") is None:
        forked_engine.fork_engines(engine_server, monkeypatch)


@pytest.fixture(autouse=True)
def know_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an engine in the test's own process; those that are forked know them, too."""
    monkeypatch.setattr(EngineService, "_HANDLERS", CHECKED_ONCE)


@pytest.fixture(autouse=True)
def fresh_settings() -> None:
    settings().clear()


class ReadsHere:
    """Reads files through the same messages, in the test's own process: starting one takes longer
    than most tests."""

    def read(self, path: Path, limit: int = DEFAULT) -> tuple[Document, Inference]:
        request = file_worker.ReadFile(path=str(path), limit=limit, seconds=0)
        return file_reader.found_in(*file_worker.answer(request, lambda _: None), limit)

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def read_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a test is about the process that reads files."""
    if "reading_process" not in request.fixturenames:
        monkeypatch.setattr(file_reader, "FileReader", ReadsHere)


@pytest.fixture
def reading_process() -> None:
    """Files are read by a process of its own, as in the program."""


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
def workspace(qtbot: Any) -> Iterator[Workspace]:
    """A workspace with an engine process and no window."""
    space = Workspace()
    space.start()
    yield space
    space.close()
    delete(space)


class _Silent(EngineBridge):
    """A bridge that never starts a process: nothing that is asked is ever answered."""

    def send(self, message: Message, *_: Any) -> None:
        self._waiting.append(message)


@pytest.fixture
def silent(qapp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workspaces have no engine."""
    monkeypatch.setattr("gradstep.gui.model.workspace.EngineBridge", _Silent)


def _make_window() -> MainWindow:
    space = Workspace()
    window = MainWindow(space)
    window.setWindowState(Qt.WindowState.WindowNoState)  # whatever the screen
    window.setGeometry(QRect(QPoint(), WANTED))
    space.setParent(window)
    space.start()
    return window


KEEPER = WindowKeeper(_make_window)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A dialog that nobody answers waits inside Qt, where no signal reaches Python: only a thread
    can end that, and the test's process with it."""
    item.add_marker(pytest.mark.timeout(method="thread"))


@pytest.fixture
def window_keeper() -> WindowKeeper:
    """Holds the window between tests."""
    return KEEPER


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """A module that begins with a test of a window gets that of the module before it. It is in the
    way of others: mouse moves go to it, and what is asked of all widgets takes longer."""
    yield
    if nextitem is None or (
        nextitem.path != item.path and "window_keeper" not in getattr(nextitem, "fixturenames", ())
    ):
        KEEPER.drop()


@pytest.fixture
def lend_window(
    request: pytest.FixtureRequest, window_keeper: WindowKeeper, qtbot: Any, qapp: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Path | None], Driver]]:  # fmt: skip
    """Gives the test a window on a file or on the start page, which makes no panel before somebody
    looks at it: that of the test before, or a new one where that is part of what is tested."""
    monkeypatch.setattr(main_window, "AHEAD", 1_000_000)
    alone = _wants_new_window(request)
    if alone:
        window_keeper.drop()
    theme.apply(qapp, theme.DARK)
    yield window_keeper.take
    window_keeper.drop() if alone else window_keeper.give_back()


def _wants_new_window(request: pytest.FixtureRequest) -> bool:
    marks = "new_window", "engine_process", "xvfb"
    return "reading_process" in request.fixturenames or any(
        map(request.node.get_closest_marker, marks)
    )


@pytest.fixture
def driver(lend_window: Callable[[Path | None], Driver]) -> Driver:
    """A window on the start page."""
    return lend_window(None)


@pytest.fixture
def tutorial(lend_window: Callable[[Path | None], Driver]) -> Driver:
    """A window on the tutorial network."""
    return lend_window(EXAMPLES / "tutorial.gradstep")
