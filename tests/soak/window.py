"""A user of the real window: its commands, its actions, keys and clicks."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.host.engine_client import Answer
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.program.trust import code_trust
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.protocol import messages as m
from gradstep.gui import commands
from gradstep.gui.app import application
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.frame.window_placement import WANTED
from gradstep.gui.garbage_collection import Collector
from gradstep.gui.look import theme
from gradstep.gui.model.settings import settings
from gradstep.gui.model.value_place import place_of
from gradstep.gui.model.workspace import Workspace
from tests.soak.drawing import NothingError, pick
from tests.soak.engines import PATIENCE, Heard
from tests.soak.faults import BrokenError, Counts, OverError, require_foreseen
from tests.soak.memory import engine_of
from tests.support.window import User as Hand

_QUIET = 0.03  # seconds in which nothing may start any more
_ROUNDS = 3
_STARTING = 6 * PATIENCE  # seconds for an engine that is started, and led to where one stood

# Actions that open no dialog and ask nothing.
_ACTIONS = (
    "edit.cut", "edit.copy", "edit.paste", "edit.delete", "edit.select_all", "edit.select_inputs",
    "edit.select_repeats", "edit.select_passes", "edit.group", "edit.dissolve", "graph.swap_inputs",
    "edit.align_row", "edit.align_column", "edit.undo", "edit.redo", "view.fit",
    "view.fit_selection", "view.current", "view.outline", "view.tensor", "view.zoom_in",
    "view.zoom_out", "view.zoom_100", "view.arrange", "view.toggle_scope", "view.open_scopes",
    "view.collapse_scopes", "view.minimap", "view.pictures", "view.profile", "view.colour_time",
    "view.light", "view.dark", "view.motion", "graph.next_wire", "graph.wire_start",
    "graph.wire_end", "graph.stop_gradient", "graph.native", "graph.no_optimizer", "graph.adam",
    "graph.gradient_descent", "graph.momentum", "run.run_to", "run.first_broken", "run.breakpoint",
    "run.check", "run.check_node", "run.why_value", "run.why", "run.expect", "run.sessions",
    "devices.compare",
)  # fmt: skip
_KEYS = ("F10", "F11", "Shift+F10", "Shift+F11", "F9", "Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+A", "Ctrl+C",
         "Ctrl+V", "Del", "S", "U", "Y", "Esc", "Left", "Right", "Up", "Down", "Home", "Ctrl+K",
         "Ctrl+F10")  # fmt: skip
_CONTROLS = {
    "step": ("run.step", "F10"),
    "step_into": ("run.step_into", "F11"),
    "step_out": ("run.step_out", "Shift+F11"),
    "step_back": ("run.step_back", "Shift+F10"),
    "continue_": ("run.continue", "F5"),
    "reverse_continue": ("run.reverse_continue", "Ctrl+Shift+F10"),
    "restart": ("run.restart", "Ctrl+Shift+F5"),
}
_MORE = {"act": 14, "press": 8, "click": 10, "drag": 3}


class WindowUser:
    """One window with an engine process of its own, from the first walk to the last."""

    ordered = False  # the window puts the loss that is looked at first

    def __init__(self, counts: Counts, heard: Heard = lambda text: None) -> None:
        self.counts, self.limit = counts, 2 << 30
        self._uncaught: list[str] = []
        app = application()
        theme.apply(app, theme.DARK)
        self.space = Workspace()
        self.window = MainWindow(self.space, remember=False)
        self.window.setWindowState(Qt.WindowState.WindowNoState)
        self.window.setGeometry(QRect(QPoint(), WANTED))
        self.space.setParent(self.window)
        Collector(self.window)
        self._hook, sys.excepthook = sys.excepthook, self._report
        self.space.bridge.event_received.connect(
            lambda event: heard(event.text) if isinstance(event, m.Output) else None
        )
        self._failures: list[m.ErrorInfo] = []
        self.space.debugger.failed.connect(self._failures.append)
        self.space.start()
        self.hand = Hand(self.window)
        self.open(Document(), True, self.limit)  # what is loaded when a window is first used
        counts.longest, counts.longest_of = 0.0, ""

    def recover(self) -> None:
        """Another engine, and nothing open: after something broke, for who knows about this one."""
        self._uncaught.clear()
        self._failures.clear()
        self.space.close_document()
        commands.restart_engine(self.space)
        self._wait(lambda: self.space.is_idle, "a new engine", _STARTING)

    def close(self) -> None:
        self.window.discard()
        self.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        sys.excepthook = self._hook
        gc.enable()

    # -- what is known -------------------------------------------------------------------------

    @property
    def document(self) -> Document:
        return self.space.document

    @property
    def index(self) -> int:
        return self.space.undo_stack.index()

    @property
    def program(self) -> m.ProgramInfo | None:
        return self.space.program

    @property
    def stop(self) -> m.Stopped | None:
        return self.space.stop

    @property
    def trusted(self) -> bool:
        return self.space.trusted

    def journal(self) -> SessionJournal:
        return self.space.bridge._client._journal

    def pids(self) -> list[int]:
        return [engine_of(self.space.bridge.pid)]

    # -- what the walk does --------------------------------------------------------------------

    def open(self, document: Document, trusted: bool, limit: int) -> None:
        self._failures.clear()
        settings().recording_limit = self.limit = limit
        if trusted and document.code:
            code_trust.allow(document, Permission.FULL)
        self._do("open", lambda: self.space.open_document(document))

    def ask(self, message: m.Message) -> Answer:
        answers: list[Answer] = []
        name = type(message).__name__
        self._do(name, lambda: self.space.request(message, (), lambda *a: answers.append(a)))
        reply, buffers = answers[0]
        if isinstance(reply, m.Failed):
            require_foreseen([reply.error])
        return reply, buffers

    def control(self, command: str, target: str = "") -> m.Message:
        self._failures.clear()
        before = self.stop
        if command == "thread":
            self._do(command, lambda: commands.switch_thread(self.space, target))
        elif command == "run_to":
            self._do(command, lambda: commands.run_to(self.space, target))
        elif self.counts.done["moves"] % 2:
            self._do(command, lambda: self.window.actions_.run(_CONTROLS[command][0]))
        else:
            self._key(_CONTROLS[command][1])
        if self.stop is before and self._failures:  # else it was a check, made after the stop
            return m.Failed(error=self._failures[-1])
        return self._at_stop()

    def _at_stop(self) -> m.Stopped:
        """Raises NothingError where nothing can run: no program can be made of the document."""
        if self.stop is None:
            raise NothingError
        return self.stop

    def train(self, steps: int) -> m.Message:
        self._failures.clear()
        before = self.stop
        self.space.training.steps = steps
        self._do("train", lambda: commands.train(self.space))
        if self.stop is before and self._failures:
            return m.Failed(error=self._failures[-1])
        return self._at_stop()

    def manage(self, request: m.ManageSessions) -> m.Message:
        """A list of the sessions, or Failed where what was asked for was not done."""
        before = {session.name for session in self._listed().sessions}
        if request.command != "list":
            self._do(request.command, lambda: self.space.sessions.ask(request))
        now = self._listed()
        names = {session.name for session in now.sessions}
        if request.command in ("new", "duplicate", "delete") and names == before:
            return m.Failed(error=m.ErrorInfo(type="ValueError", message="it was refused"))
        return now

    def branch(self, request: m.Inject | m.ManageBranches, *buffers: bytes) -> m.Message:
        """As `manage`."""
        before = self.stop
        if isinstance(request, m.Inject):
            self._do("inject", lambda: self.space.sessions.put(request, buffers))
        else:
            self._do(request.command, lambda: self.space.sessions.ask(request))
        if self.stop is before:
            return m.Failed(error=m.ErrorInfo(type="ValueError", message="it was refused"))
        return self._listed()

    def _listed(self) -> m.SessionList:
        reply, _ = self.ask(m.ManageSessions(command="list"))
        if not isinstance(reply, m.SessionList):
            raise NothingError
        return reply

    def edit(self, name: str, arguments: tuple[Any, ...]) -> None:
        self._do(name, lambda: self._command(name, arguments))

    def undo(self) -> bool:
        return self._to(self.index - 1, "edit.undo", "Ctrl+Z")

    def redo(self) -> bool:
        return self._to(self.index + 1, "edit.redo", "Ctrl+Shift+Z")

    def save(self, path: Path) -> None:
        self._do("save", lambda: self.window.files._write(path))

    def kill(self) -> None:
        """As a crash would, amid nothing; then the user restarts it."""
        os.kill(self.space.bridge.pid, signal.SIGKILL)
        self._wait(lambda: self.space.engine_state == "dead", "the engine's end to be noticed")
        self._do("restart_engine", lambda: commands.restart_engine(self.space), _STARTING)

    def more(self) -> dict[str, int]:
        return _MORE

    def do_more(self, name: str, rng: Random) -> str:
        """A move that only a window has; what it was."""
        return getattr(self, f"_{name}")(rng)

    # -- the window's own moves ----------------------------------------------------------------

    def _act(self, rng: Random) -> str:
        id = rng.choice(_ACTIONS)
        self._do(id, lambda: self.window.actions_.run(id))
        return id

    def _press(self, rng: Random) -> str:
        keys = rng.choice(_KEYS)
        self._key(keys)
        return keys

    def _click(self, rng: Random) -> str:
        name = self._visible(rng)
        modifiers = rng.choice((Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier))
        window = self.window.windowHandle()
        at = self._in_window(self.hand.node(name))
        self._do(
            "click", lambda: QTest.mouseClick(window, Qt.MouseButton.LeftButton, modifiers, at)
        )
        return name

    def _drag(self, rng: Random) -> str:
        """A node to somewhere else."""
        name = self._visible(rng)
        start = self.hand.node(name)
        end = start + QPoint(rng.randint(-120, 120), rng.randint(-90, 90))
        if not self.window.canvas.viewport().rect().contains(end):
            raise NothingError
        window = self.window.windowHandle()
        left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        self._do("press", lambda: QTest.mousePress(window, left, none, self._in_window(start)))
        for share in (0.2, 0.6, 1.0):
            at = self._in_window(start + (end - start) * share)
            self._do("drag", lambda at=at: QTest.mouseMove(window, at))
        self._do("drop", lambda: QTest.mouseRelease(window, left, none, self._in_window(end)))
        return name

    def _visible(self, rng: Random) -> str:
        """A node that is on the screen."""
        view = self.window.canvas.viewport().rect().adjusted(4, 4, -4, -4)
        names = sorted(self.window.canvas.arrays.visible.number)
        return pick(rng, [name for name in names if view.contains(self.hand.node(name))])

    def _in_window(self, at: QPoint) -> QPoint:
        return self.window.canvas.viewport().mapTo(self.window, at)

    def _command(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name in ("duplicate", "paste"):
            self.space.select(arguments[0])
            if name == "duplicate":
                commands.duplicate_selection(self.space)
            elif commands.copy_selection(self.space):
                commands.paste(self.space)
        elif name == "set_initial":
            operation, value = arguments
            place = place_of(self.space, self.space.shown[operation])
            commands.put_value(self.space, place, Constant(value))
        else:
            getattr(commands, name)(self.space, *arguments)

    def _to(self, index: int, action: str, keys: str) -> bool:
        if not 0 <= index <= self.space.undo_stack.count():
            return False
        if index % 2:
            self._do(action, lambda: self.window.actions_.run(action))
        else:
            self._key(keys)
        return self.index == index

    def _key(self, keys: str) -> None:
        """Press keys on the canvas."""
        self._do("focus", self._focus)
        target = QApplication.focusWidget() or self.window
        self._do(keys, lambda: QTest.keySequence(target, QKeySequence(keys)))

    def _focus(self) -> None:
        self.hand.bring_forward(self.window)
        for widget in QApplication.topLevelWidgets():
            if widget is not self.window and widget.isVisible():
                widget.close()
        self.window.canvas.setFocus()

    # -- waiting -------------------------------------------------------------------------------

    def _do(self, what: str, act: Callable[[], object], patience: float = PATIENCE) -> None:
        """Do it, and wait until the engine has answered and all is shown."""
        began = time.monotonic()
        act()
        self.counts.waited(began, what)
        self._settle(what, patience)
        if self._uncaught:
            raise BrokenError("internal", self._uncaught.pop())
        stop, program = self.stop, self.program
        problems = program.problems if program is not None else ()
        require_foreseen([stop.error if stop is not None else None, *problems, *self._failures])

    def _settle(self, what: str, patience: float) -> None:
        began = quiet = time.monotonic()
        rounds, paused = 0, False
        while rounds < _ROUNDS or time.monotonic() - quiet < _QUIET:
            self._turn(what)
            rounds += 1
            if not self.space.is_idle:
                quiet, rounds = time.monotonic(), 0
            if time.monotonic() - began > patience:
                if paused:
                    self.space.bridge.kill()
                    raise BrokenError("hang", f"no answer in {2 * patience:.0f} s, nor to a pause")
                commands.pause(self.space)
                paused, began = True, time.monotonic()
            time.sleep(0.002)
        if paused:
            raise OverError("it was paused")

    def _wait(self, condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        end = time.monotonic() + patience
        while not condition():
            self._turn(what)
            if time.monotonic() > end:
                raise BrokenError("hang", f"waited in vain for {what}")
            time.sleep(0.002)

    def rest(self, seconds: float) -> None:
        """Ask for nothing for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._turn("nothing")
            time.sleep(0.02)

    def _turn(self, what: str) -> None:
        """One turn of the event loop, timed."""
        began = time.monotonic()
        QApplication.processEvents()
        self.counts.waited(began, f"after {what}")

    def _report(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._hook(kind, error, trace)
        elif not isinstance(error, GradstepError):
            self._uncaught.append(f"{kind.__name__}: {error}")
        else:
            self._uncaught.append(f"a GradstepError that nobody told: {error}")
