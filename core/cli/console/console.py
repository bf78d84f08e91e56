"""The debugger's console: a line of text in, what happened out. No terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from gradstep.core.cli.console import watch_commands
from gradstep.core.cli.console.attribution_commands import ATTRIBUTION_COMMANDS
from gradstep.core.cli.console.branch_commands import BRANCH_COMMANDS
from gradstep.core.cli.console.breakpoint_commands import BREAKPOINT_COMMANDS
from gradstep.core.cli.console.console_acts import ConsoleActs, OwnActs
from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.loop_commands import LOOP_COMMANDS
from gradstep.core.cli.console.move_commands import move_commands
from gradstep.core.cli.console.query_commands import QUERY_COMMANDS
from gradstep.core.cli.console.session_commands import SESSION_COMMANDS
from gradstep.core.cli.console.smallest_commands import SMALLEST_COMMANDS
from gradstep.core.cli.console.value_commands import VALUE_COMMANDS
from gradstep.core.cli.console.watch_commands import WATCH_COMMANDS, watch_lines, watch_objects
from gradstep.core.cli.console.why_commands import WHY_COMMANDS
from gradstep.core.cli.output.command_output import error_object, table
from gradstep.core.cli.output.thread_table import thread_objects, thread_table
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import FIRST, Sessions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.host.device_services import CpuOnly, DeviceServices
from gradstep.core.host.program_reports import program_info, report_stop
from gradstep.core.host.step_words import notate
from gradstep.core.host.stop_sentence import stop_text
from gradstep.core.protocol.messages import StepInfo

_LISTED = 4  # steps that `list` shows before and after the current one


class Console:
    """Commands by name on one debug session. Raises GradstepError for what cannot be done."""

    def __init__(
        self,
        sessions: Sessions | Scheduler,
        program_of: Callable[[str], Program],
        breakpoints: tuple[Breakpoint, ...] = (),
        watches: tuple[str, ...] = (),
        devices: Callable[[], DeviceServices] = CpuOnly,
    ) -> None:
        """sessions: those that there are, which have these breakpoints, or the threads of a single
        one. program_of: of another file, for sessions of other graphs. watches: expressions."""
        self.devices = devices
        own = isinstance(sessions, Scheduler)
        self.sessions = Sessions({FIRST: sessions}) if isinstance(sessions, Scheduler) else sessions
        self.program_of = program_of
        self.breakpoints = breakpoints
        self.watches = [*watches]
        self.acts: ConsoleActs = OwnActs(self)
        self._last = "step"
        self._commands = [*console_commands()]
        found = {each.name: each for each in self._commands}
        others = {alias: each for each in self._commands for alias in each.aliases}
        self._named = {**found, **others}
        if own:
            self.sessions.set_breakpoints(breakpoints)

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
        command = self._find(word or self._last)
        if command.alone and rest.strip():
            again = f"; an empty line makes one more {command.name}" if command.repeats else ""
            raise GradstepError(
                f"{command.name} takes nothing behind it, and there is '{rest.strip()}'",
                kind="ValueError",
                hint=f"write {command.name} alone{again}",
            )
        if command.repeats:
            self._last = command.name
        return command.run(self, rest.strip())

    def _find(self, word: str) -> ConsoleCommand:
        command = self._named.get(word)
        if command is None:
            meant = did_you_mean(near(word, [*self._named]))
            raise GradstepError(
                f"there is no command '{word}'", kind="ValueError", hint=meant or "help lists them"
            )
        return command

    @property
    def command_names(self) -> list[str]:
        """As `help` lists them, without their other names."""
        return [each.name for each in self._commands]

    # -- looking -------------------------------------------------------------------------------

    def where(self, rest: str = "") -> Reply:
        """Where the session stands, without moving."""
        said, stop = report_stop(self.threads), self.threads.stop
        data: dict[str, Any] = {
            name: getattr(said, name)
            for name in ("reason", "run", "step", "runs", "phase", "node", "op", "text")
        }
        if said.branches:
            data["branch"] = self.threads.branches.current
        if stop.inside:
            data["inside"] = msgspec.to_builtins(said.inside)
        if stop.error is not None:
            data["error"] = error_object(stop.error)
        found: dict[str, Any] = {"stop": data}
        watched = watch_commands.read(self)
        if watched:
            found["watches"] = watch_objects(watched)
        lines = filter(None, [stop_text(self.threads, said), watch_lines(watched)])
        return Reply("\n".join(lines), found)

    def list_steps(self, rest: str = "") -> Reply:
        """The steps around the current one; `list all`: every step."""
        if rest not in ("", "all"):
            raise GradstepError(
                f"there is no list of '{rest}'", kind="ValueError", hint="write list, or list all"
            )
        now, steps = self._steps()
        around = range(max(0, now - _LISTED), min(len(steps), now + _LISTED + 1))
        shown = range(len(steps)) if rest == "all" else around
        said = notate(self.session, [steps[i].op for i in shown]).steps
        rows = [
            ["→" if i == now else "", str(i), steps[i].phase, steps[i].origin, words.text]
            for i, words in zip(shown, said, strict=True)
        ]
        found = [
            {**msgspec.to_builtins(steps[i]), "text": words.text}
            for i, words in zip(shown, said, strict=True)
        ]
        return Reply(table(rows), {"steps": found})

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
        return self.acts.switch_thread(name)

    # -- the rest ------------------------------------------------------------------------------

    def show_help(self, rest: str = "") -> Reply:
        """What each command does, or the one that is named."""
        listed = [self._find(rest)] if rest else self._commands
        rows = [[each.name, each.short, each.help] for each in listed]
        return Reply(table(rows))

    def leave(self, rest: str = "") -> Reply:
        """Leave."""
        return Reply("", quit=True)

    @property
    def failed(self) -> bool:
        """Whether the session stands at a step that failed."""
        return self.session.stop.reason == Reason.EXCEPTION


_LOOKING = (
    ConsoleCommand("where", Console.where, "where the session stands", ("w",), alone=True),
    ConsoleCommand(
        "list", Console.list_steps, "the steps around the current one; list all", ("l",)
    ),
    ConsoleCommand(
        "threads", Console.list_threads, "all threads, and what each waits for", alone=True
    ),
    ConsoleCommand("thread", Console.switch, "NAME: the moves are that thread's from now on"),
)
_LAST = (
    ConsoleCommand("help", Console.show_help, "this, or what one does: help NAME", ("?",)),
    ConsoleCommand("quit", Console.leave, "leave", ("q", "exit"), alone=True),
)


def console_commands() -> Iterator[ConsoleCommand]:
    """All commands, as `help` lists them."""
    yield from move_commands()
    yield from (
        *BREAKPOINT_COMMANDS,
        *VALUE_COMMANDS,
        *BRANCH_COMMANDS,
        *LOOP_COMMANDS,
        *WHY_COMMANDS,
        *SMALLEST_COMMANDS,
        *WATCH_COMMANDS,
        *QUERY_COMMANDS,
        *ATTRIBUTION_COMMANDS,
        *_LOOKING,
        *SESSION_COMMANDS,
        *_LAST,
    )
