"""A workspace whose engine answers in this process, so that the panels are tested by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gradstep.core.document.document import Document
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.open_document import read
from gradstep.core.protocol import messages
from gradstep.gui.look import theme
from gradstep.gui.look.theme import ASSETS
from gradstep.gui.model import workspace
from tests.support.deleting import delete


class LocalBridge(QObject):
    """An engine bridge without a process: every answer is there at once."""

    state_changed = Signal(str)
    event_received = Signal(object)
    died = Signal(object)
    confined = is_read = False
    machine = address = ""

    def __init__(self, argv: object = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state, self.doing = "ready", ""
        self.asked: list[messages.Message] = []
        from gradstep.core.cli.engine import window_console
        from gradstep.gpu.devices import Devices

        emit, terminal = self.event_received.emit, window_console()
        self.service = EngineService(Devices(), emit=emit, terminal=terminal)

    def send(
        self,
        message: messages.Message,
        buffers: Sequence[Any] = (),
        then: Callable[..., None] = lambda *_: None,
    ) -> None:
        self.asked.append(message)
        then(*self.service.handle(message, [bytes(b) for b in buffers]))

    def lend(self, columns: Iterable[str]) -> None:
        """Its files are here."""

    def lend_typed(self, line: str) -> None:
        """The same of what a line names."""

    def controls(self) -> list[messages.Control]:
        """The debugger commands that were given."""
        return [m for m in self.asked if isinstance(m, messages.Control)]


class Bench:
    """A workspace, and the requests to the window that the panels made through it."""

    def __init__(self, space: workspace.Workspace) -> None:
        self.space = space
        self.views: list[tuple[str, str]] = []
        self.messages: list[str] = []
        space.view_requested.connect(lambda what, target: self.views.append((what, target)))
        space.message.connect(lambda level, text: self.messages.append(text))

    @property
    def bridge(self) -> LocalBridge:
        bridge: Any = self.space.bridge
        return bridge

    def open(self, name: str) -> Document:
        """Open an example."""
        path = ASSETS / "examples" / f"{name}.gradstep"
        document = read(path)
        self.space.open_document(document, path)
        self.space.debugger.flush()
        return document

    def run(self, *commands: str) -> None:
        """Give debugger commands, one after another."""
        for command in commands:
            self.space.control(*command.split("@"))

    def step_of(self, op: str) -> int:
        """Number of the first plan step that executes `op`."""
        assert self.space.program is not None
        return next(i for i, step in enumerate(self.space.program.steps) if step.op == op)


@pytest.fixture
def bench(qtbot: Any, qapp: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    theme.apply(qapp, theme.DARK)
    bench = made_bench(monkeypatch)
    yield bench
    delete(bench.space)


def made_bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A new one; whoever makes it deletes its workspace."""
    monkeypatch.setattr(workspace, "EngineBridge", LocalBridge)
    return Bench(workspace.Workspace())


@pytest.fixture
def show(qtbot: Any) -> Iterator[Callable[[QWidget], Any]]:
    """Put a panel on the screen, at the size it has in the window. It goes before its workspace, of
    which it may be about to ask something."""
    panels: list[QWidget] = []

    def shown(panel: Any, width: int = 328, height: int = 640) -> Any:
        panels.append(panel)
        panel.resize(width, height)
        with qtbot.waitActive(panel):
            panel.show()
            panel.activateWindow()
        return panel

    yield shown
    delete(*panels)
