"""The debugger's console: a line of text in, what happened out. No terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from gradstep.core.cli.console.console_help import ALIASES, HELP
from gradstep.core.cli.console.console_reply import Reply
from gradstep.core.cli.console.session_commands import SESSION_COMMANDS
from gradstep.core.cli.console.value_commands import VALUE_COMMANDS
from gradstep.core.cli.output.command_output import error_object, table
from gradstep.core.cli.output.thread_table import thread_objects, thread_table
from gradstep.core.debug.breaks.breakpoint_targets import require_targets
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import FIRST, Sessions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.legal_commands import require_near
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.host.program_reports import program_info, report_stop
from gradstep.core.host.stop_sentence import stop_text
from gradstep.core.protocol.messages import StepInfo

_LISTED = 4  # steps that `list` shows before and after the current one


class Console:
    """Commands by name on one debug session. Raises GradstepError for what cannot be done."""

    def __init__(
        self,
        threads: Scheduler,
        program_of: Callable[[str], Program],
        breakpoints: tuple[Breakpoint, ...] = (),
    ) -> None:
        """program_of: of another file, for sessions of other graphs."""
        self.sessions = Sessions({FIRST: threads})
        self.program_of = program_of
        self._breakpoints = list(breakpoints)
        self._last = "step"
        self.sessions.set_breakpoints(self._breakpoints)

    @property
    def threads(self) -> Scheduler:
        """The current session's."""
        return self.sessions.session

    @property
    def session(self) -> DebugSession:
        """The current thread's."""
        return self.threads.session

    def execute(self, line: str) -> Reply:
        """Do one command; an empty line repeats the last move."""
        word, _, rest = line.strip().partition(" ")
        name = ALIASES.get(word or self._last, word or self._last)
        command = COMMANDS.get(name)
        if command is None:
            meant = did_you_mean(near(name, [*COMMANDS, *ALIASES]))
            raise GradstepError(
                f"there is no command '{name}'", kind="ValueError", hint=meant or "help lists them"
            )
        if name in _MOVES:
            self._last = name
        return command(self, rest.strip())

    # -- moves ---------------------------------------------------------------------------------

    def move(self, name: str, target: str = "") -> Reply:
        """One of the session's moves."""
        self.threads.command(name, target)
        return self.where()

    def run_to(self, target: str) -> Reply:
        """To just before an operation, or exactly to run:step."""
        if not target:
            raise _missing("run_to", "a node, or run:step")
        require_near(target, self.session.stop.runs)
        return self.move("run_to", target)

    def where(self, rest: str = "") -> Reply:
        """Where the session stands, without moving."""
        said, stop = report_stop(self.threads), self.threads.stop
        data: dict[str, Any] = {
            name: getattr(said, name)
            for name in ("reason", "run", "step", "runs", "phase", "node", "op", "text")
        }
        if stop.inside:
            data["inside"] = msgspec.to_builtins(said.inside)
        if stop.error is not None:
            data["error"] = error_object(stop.error)
        return Reply(stop_text(self.threads, said), {"stop": data})

    # -- looking -------------------------------------------------------------------------------

    def list_steps(self, rest: str = "") -> Reply:
        """The steps around the current one; `list all`: every step."""
        now, steps = self._steps()
        around = range(max(0, now - _LISTED), min(len(steps), now + _LISTED + 1))
        shown = range(len(steps)) if rest == "all" else around
        rows = [
            ["→" if i == now else "", str(i), steps[i].phase, steps[i].origin, steps[i].text]
            for i in shown
        ]
        return Reply(table(rows), {"steps": [msgspec.to_builtins(steps[i]) for i in shown]})

    def _steps(self) -> tuple[int, Sequence[StepInfo]]:
        """The number of the next step, and the steps it is one of: the run's or an iteration's."""
        stop, info = self.session.stop, program_info(self.session)
        if not stop.inside:
            return stop.step, info.steps
        here = stop.inside[-1]
        return here.step, next(x.steps for x in info.loops if x.loop == here.loop)

    # -- threads -------------------------------------------------------------------------------

    def list_threads(self, rest: str = "") -> Reply:
        """All threads, and what each of them could do."""
        return Reply(thread_table(self.threads), {"threads": thread_objects(self.threads)})

    def switch(self, name: str) -> Reply:
        """`thread NAME`: the moves are that thread's from now on."""
        if not name:
            return self.list_threads()
        self.threads.switch(name)
        return self.where()

    # -- breakpoints ---------------------------------------------------------------------------

    def break_(self, rest: str) -> Reply:
        """`break [gradient|scope|type|phase] NAME [if EXPRESSION]`."""
        place, _, condition = f"{rest} ".partition(" if ")
        first, _, name = place.strip().partition(" ")
        kind = BreakpointKind.OP
        if name and first in {k.value for k in BreakpointKind}:
            kind, place = BreakpointKind(first), name
        if not place.strip():
            raise _missing("break", "[gradient|scope|type|phase] NAME [if EXPRESSION]")
        point = Breakpoint(place.strip(), kind, condition.strip())
        require_targets(self.session.program.graph, point)
        self._set([*self._breakpoints, point])
        return self.breakpoints()

    def delete(self, rest: str) -> Reply:
        """`delete N`, by the number in the list; `delete` alone: all."""
        if not rest:
            self._set([])
        elif rest in (numbers := [str(i) for i, _ in enumerate(self._breakpoints, 1)]):
            self._set([b for i, b in zip(numbers, self._breakpoints, strict=True) if i != rest])
        elif self._breakpoints:
            raise _missing("delete", f"a number from 1 to {len(self._breakpoints)}")
        else:
            raise GradstepError(
                "there are no breakpoints", kind="ValueError", hint="break NAME sets one"
            )
        return self.breakpoints()

    def breakpoints(self, rest: str = "") -> Reply:
        """All breakpoints, by number."""
        rows = [
            [str(i), b.kind.value, b.target, f"if {b.condition}" if b.condition else ""]
            for i, b in enumerate(self._breakpoints, 1)
        ]
        found = [
            {"target": b.target, "kind": b.kind.value, "condition": b.condition}
            for b in self._breakpoints
        ]
        return Reply(table(rows) or "no breakpoints", {"breakpoints": found})

    def _set(self, breakpoints: list[Breakpoint]) -> None:
        self.sessions.set_breakpoints(breakpoints)
        self._breakpoints = breakpoints

    # -- the rest ------------------------------------------------------------------------------

    def show_help(self, rest: str = "") -> Reply:
        """What each command does."""
        short: dict[str, str] = {}
        for alias, name in ALIASES.items():
            short.setdefault(name, alias)
        rows = [[name, short.get(name, ""), HELP[name]] for name in COMMANDS]
        return Reply(table(rows))

    def leave(self, rest: str = "") -> Reply:
        """Leave."""
        return Reply("", quit=True)

    @property
    def failed(self) -> bool:
        """Whether the session stands at a step that failed."""
        return self.session.stop.reason == Reason.EXCEPTION


def _missing(command: str, what: str) -> GradstepError:
    return GradstepError(
        f"{command} needs {what}", kind="ValueError", hint="help lists the commands"
    )


def _move(name: str) -> Callable[[Console, str], Reply]:
    return lambda console, rest: console.move(name)


COMMANDS: Mapping[str, Callable[[Console, str], Reply]] = {
    "step": _move("step"),
    "step_into": _move("step_into"),
    "step_out": _move("step_out"),
    "step_back": _move("step_back"),
    "continue": _move("continue_"),
    "reverse_continue": _move("reverse_continue"),
    "run_to": Console.run_to,
    "restart": _move("restart"),
    "break": Console.break_,
    "breakpoints": Console.breakpoints,
    "delete": Console.delete,
    **VALUE_COMMANDS,
    "where": Console.where,
    "list": Console.list_steps,
    "threads": Console.list_threads,
    "thread": Console.switch,
    **SESSION_COMMANDS,
    "help": Console.show_help,
    "quit": Console.leave,
}
# What an empty line does once more.
_MOVES = frozenset({"step", "step_into", "step_out", "step_back", "continue", "reverse_continue"})
