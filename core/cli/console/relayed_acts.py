"""The console in the window: what a line changes, the window does itself, through its own doors.

So that what is moved, edited and undone is what it is by mouse and keys, and all panels follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.cli.console.console import Console
from gradstep.core.cli.console.console_acts import Told
from gradstep.core.cli.console.console_command import Reply
from gradstep.core.cli.console.line_completion import complete
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.compiled_breakpoints import CompiledBreakpoints
from gradstep.core.debug.breaks.hit_counts import HitCounts
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.legal_moves import require_legal
from gradstep.core.debug.motion.move_table import MOVES
from gradstep.core.document.breakpoint_specs import breakpoint_of, spec_of
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.io.format_table import format_written_as, suffix_written
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.tensor_bytes import pack

_HERE = "where"
_SESSIONS = "sessions"


class RelayedActs:
    """act: what the window is to do for the line that was executed last, with its buffers."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.act: m.LineDone | None = None
        self.buffers: tuple[Buffer, ...] = ()

    def move(self, command: str, target: str) -> Reply:
        if command in MOVES:  # what it refuses is said here, and not by the window
            require_legal(MOVES[command], self._console.session.state)
        return self._leave(
            m.LineDone(control=m.Control(command=command, target=target), then=_HERE)
        )

    def switch_thread(self, name: str) -> Reply:
        return self.move("thread", name)

    def choose_iteration(self, target: str, told: Told) -> Reply:
        control = m.Control(command="iteration", target=target)
        return self._leave(m.LineDone(control=control, then="iteration"))

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint], told: Told) -> Reply:
        CompiledBreakpoints(self._console.session.plan, breakpoints, HitCounts())  # can be read
        specs = [spec_of(b) for b in breakpoints]
        return self._leave(m.LineDone(breakpoints=specs, then="breakpoints"))

    def set_watches(self, watches: Sequence[str], told: Told) -> Reply:
        return self._leave(m.LineDone(watches=[*watches], then="watch"))

    def assign(self, name: str, value: np.ndarray, told: Told) -> Reply:
        self.buffers = (pack(value),)
        dtype = DType.of(value.dtype).value
        assign = m.Assign(name=name, dtype=dtype, shape=[*value.shape])
        return self._leave(m.LineDone(assign=assign, then=f"print {name}"))

    def inject(self, name: str, at: str, value: np.ndarray, told: Told) -> Reply:
        self.buffers = (pack(value),)
        dtype = DType.of(value.dtype).value
        asked = m.Inject(name=name, at=at, dtype=dtype, shape=[*value.shape])
        return self._leave(m.LineDone(inject=asked, then=_HERE))

    def branch(self, request: m.ManageBranches, told: Told) -> Reply:
        then = _HERE if request.command in ("switch", "edit") else "branches"
        return self._leave(m.LineDone(branch=request, then=then))

    def compare(self, request: m.CompareMoments) -> Reply:
        return self._leave(m.LineDone(compare=request))

    def manage(self, request: m.ManageSessions, told: Told, file: str = "") -> Reply:
        if file:
            raise no_file(file)
        return self._leave(m.LineDone(manage=request, then=_SESSIONS))

    def write_smallest(self, request: m.FindSmallest, path: str) -> Reply:
        format_written_as(suffix_written(path))
        return self._leave(m.LineDone(smallest=request, path=path))

    def _leave(self, act: m.LineDone) -> Reply:
        self.act = act
        return Reply("")


def answer_line(sessions: Sessions, request: m.RunLine) -> tuple[m.LineDone, tuple[Buffer, ...]]:
    """What a line says, and what the window has to do for it. Raises GradstepError."""
    breakpoints = tuple(breakpoint_of(spec) for spec in request.breakpoints)
    console = Console(sessions, no_program, breakpoints, tuple(request.watches))
    if request.complete:
        return m.LineDone(lines=complete(console, request.line)), ()
    acts = console.acts = RelayedActs(console)
    reply = console.execute(request.line)
    if acts.act is None:
        return _drawn(reply)
    return acts.act, acts.buffers


def _drawn(reply: Reply) -> tuple[m.LineDone, tuple[Buffer, ...]]:
    """With what there is to draw."""
    if (found := reply.picture) is None:
        return m.LineDone(text=reply.text, quit=reply.quit), ()
    info = m.LinePicture(kind=found.kind, shape=[*found.values.shape], dtype=found.dtype)
    parts = pack(np.ascontiguousarray(found.values)), pack(np.ascontiguousarray(found.kinds))
    return m.LineDone(text=reply.text, picture=info), parts


def no_program(file: str) -> Program:
    raise no_file(file)


def no_file(file: str) -> GradstepError:
    return GradstepError(
        f"a session of '{file}' is one of another window",
        kind="ValueError",
        hint="open the file in a window of its own, and copy variables from there",
    )
