"""The console in the window: lines that the engine understands, done through the window's doors.

The engine answers a line with what it says, or with what it asks for: a move, other breakpoints or
watches, sessions, a variable's value. Those are given as by mouse and keys, so that all follows.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from gradstep.core.command_text import commands_in
from gradstep.core.document.breakpoint_specs import breakpoint_of, spec_of
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    ErrorInfo,
    Failed,
    FindSmallest,
    LineDone,
    Message,
    RunLine,
)
from gradstep.gui.model.smallest_file import write_smallest

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

PROMPT = "› "
MOST = 1000  # lines of the history
_STAYS = "the console stays open; close its panel, or the window (Ctrl+Q)"

Tone = Literal["line", "text", "problem", "printed"]


class ConsoleLines(QObject):
    """said(text, tone): something was said, "line": what was typed. history: what was typed, the
    newest at the end."""

    said = Signal(str, str)
    drawn = Signal(object, tuple)  # a LinePicture, and its buffers
    completed = Signal(str, list)  # what was typed, and what it may become
    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.history: list[str] = []
        self._workspace = workspace
        self._waiting = deque[str]()
        self._is_busy = self._is_moving = False
        self._last_move = "step"
        workspace.printed.added.connect(lambda text: self._say(text.rstrip("\n"), "printed"))
        workspace.debugger.failed.connect(self._note_failure)
        workspace.document_opened.connect(self._forget)
        workspace.bridge.died.connect(self._forget)

    @property
    def is_busy(self) -> bool:
        """Whether a line is under way; others wait for it."""
        return self._is_busy

    def run(self, line: str) -> None:
        """Do it once those before are done: each command in it. An empty line repeats the last
        move."""
        line = line.strip()
        if line and line not in self.history[-1:]:
            self.history = [*self.history, line][-MOST:]
        self._waiting.extend(commands_in(line) or [""])
        self._next()

    def complete(self, line: str) -> None:
        """Ask what it may become: `completed` follows."""

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, LineDone):
                self.completed.emit(line, reply.lines)

        self._workspace.debugger.ask(self._request(line, complete=True), (), answered)

    def _next(self) -> None:
        if self._is_busy or not self._waiting:
            return
        line = self._waiting.popleft()
        self._say(PROMPT + (line or self._last_move), "line")
        self._workspace.bridge.lend_typed(line)  # and none that the engine asks for in return
        self._ask(line or self._last_move)

    def _ask(self, line: str) -> None:
        self._set_busy(True)

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, Failed):
                self._fail(reply.error)
            elif isinstance(reply, LineDone) and _asks(reply):
                self._do(line, reply, buffers)
            elif isinstance(reply, LineDone):
                self._say(_STAYS if reply.quit else reply.text, "text")
                if reply.picture is not None:
                    self.drawn.emit(reply.picture, buffers)
                self._finish()

        self._workspace.debugger.ask(self._request(line), (), answered)

    def _request(self, line: str, complete: bool = False) -> RunLine:
        document = self._workspace.document
        specs = [spec_of(b) for b in document.breakpoints]
        return RunLine(line=line, complete=complete, breakpoints=specs, watches=[*document.watches])

    def _do(self, line: str, done: LineDone, buffers: tuple[Buffer, ...]) -> None:
        """What it asks for, and then ask what came of it."""
        space = self._workspace
        if done.control is not None:
            self._last_move, self._is_moving = line, True
            space.control(done.control.command, done.control.target, lambda: self._tell(done.then))
            return
        if done.breakpoints is not None:
            points = tuple(map(breakpoint_of, done.breakpoints))
            space.edit("Breakpoints", space.document.with_(breakpoints=points))
        elif done.watches is not None:
            space.edit("Watch", space.document.with_(watches=tuple(done.watches)))
        elif done.manage is not None:
            space.sessions.ask(done.manage)
        elif done.assign is not None:
            space.sessions.put(done.assign, buffers)
        elif done.inject is not None:
            space.sessions.put(done.inject, buffers)
        elif done.branch is not None:
            space.sessions.ask(done.branch)
        elif done.compare is not None:
            space.debugger.compare_moments(done.compare.left, done.compare.right)
            space.ask_window("show", "device_diff")
        elif done.smallest is not None:
            self._write_smallest(done.smallest, done.path)
            return
        self._tell(done.then)

    def _write_smallest(self, question: FindSmallest, path: str) -> None:
        """A file is named from the document's folder."""
        space = self._workspace
        folder = Path.cwd() if space.path is None else space.path.parent

        def done(words: str) -> None:
            self._say(words, "text")
            self._finish()

        write_smallest(space, question, folder / Path(path).expanduser(), done, self._fail)

    def _tell(self, line: str) -> None:
        """Ask a line that is not shown, and is the end of the one before."""
        self._is_moving = False
        self._ask(line) if line else self._finish()

    def _fail(self, error: ErrorInfo) -> None:
        hint = f"\n  {error.hint}" if error.hint else ""
        self._say(f"error: {error.message}{hint}", "problem")
        self._finish()

    def _note_failure(self, error: ErrorInfo) -> None:
        """A move that was asked for was refused."""
        if self._is_moving:
            self._is_moving = False
            self._fail(error)

    def _finish(self) -> None:
        self._workspace.bridge.lend_typed("")
        self._set_busy(False)
        self._next()

    def _set_busy(self, busy: bool) -> None:
        if busy != self._is_busy:
            self._is_busy = busy
            self.changed.emit()

    def _say(self, text: str, tone: Tone) -> None:
        if text:
            self.said.emit(text, tone)

    def _forget(self, *_: object) -> None:
        """What was under way was of another document, or engine."""
        self._waiting.clear()
        self._is_moving = False
        self._workspace.bridge.lend_typed("")
        self._set_busy(False)


def _asks(done: LineDone) -> bool:
    """Whether something is to be done."""
    moved = done.control, done.manage, done.assign, done.inject, done.branch, done.compare
    others = done.breakpoints, done.watches, done.smallest
    return any(each is not None for each in (*moved, *others))
