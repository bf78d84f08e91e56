"""What a console's commands change, and who does it: the console itself, or the window for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from gradstep.core.cli.console.console_command import Reply
from gradstep.core.cli.output.comparison_text import comparison_text
from gradstep.core.cli.runs.smallest_file import write_smallest
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.host.branch_answers import inject, manage
from gradstep.core.host.moment_answers import compare_moments
from gradstep.core.host.session_answers import copy_variables
from gradstep.core.host.session_restore import begin
from gradstep.core.protocol.messages import (
    CompareMoments,
    FindSmallest,
    ManageBranches,
    ManageSessions,
)

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console

Told = Callable[[], Reply]  # what there is to say once it is done


class ConsoleActs(Protocol):
    """Each does one thing, and says what came of it. Raises GradstepError for what cannot be."""

    def move(self, command: str, target: str) -> Reply: ...
    def switch_thread(self, name: str) -> Reply: ...
    def choose_iteration(self, target: str, told: Told) -> Reply: ...
    def set_breakpoints(self, breakpoints: Sequence[Breakpoint], told: Told) -> Reply: ...
    def set_watches(self, watches: Sequence[str], told: Told) -> Reply: ...
    def assign(self, name: str, value: np.ndarray, told: Told) -> Reply: ...
    def inject(self, name: str, at: str, value: np.ndarray, told: Told) -> Reply: ...
    def branch(self, request: ManageBranches, told: Told) -> Reply: ...
    def compare(self, request: CompareMoments) -> Reply: ...
    def manage(self, request: ManageSessions, told: Told, file: str = "") -> Reply: ...
    def write_smallest(self, request: FindSmallest, path: str) -> Reply: ...


class OwnActs:
    """The console does it all to its own sessions."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def move(self, command: str, target: str) -> Reply:
        self._console.threads.command(command, target)
        return self._console.where()

    def switch_thread(self, name: str) -> Reply:
        self._console.threads.switch(name)
        return self._console.where()

    def choose_iteration(self, target: str, told: Told) -> Reply:
        self._console.threads.choose_iteration(target)
        return told()

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint], told: Told) -> Reply:
        self._console.sessions.set_breakpoints(breakpoints)
        self._console.breakpoints = tuple(breakpoints)
        return told()

    def set_watches(self, watches: Sequence[str], told: Told) -> Reply:
        self._console.watches = [*watches]
        return told()

    def assign(self, name: str, value: np.ndarray, told: Told) -> Reply:
        self._console.threads.assign({name: value})
        return told()

    def inject(self, name: str, at: str, value: np.ndarray, told: Told) -> Reply:
        inject(self._console.threads, name, value, at)
        return told()

    def branch(self, request: ManageBranches, told: Told) -> Reply:
        manage(self._console.threads, request)
        return told()

    def compare(self, request: CompareMoments) -> Reply:
        found = compare_moments(self._console.sessions, request, self._console.devices())
        return Reply(comparison_text(found), msgspec.to_builtins(found))

    def manage(self, request: ManageSessions, told: Told, file: str = "") -> Reply:
        sessions, name = self._console.sessions, request.name
        if request.command == "copy":
            text = copy_variables(sessions, request.source, request.target, request.wanted)
            return Reply(text, told().data)
        if request.command == "switch":
            sessions.switch(name)
        elif request.command == "new":
            program = self._program(file)
            backend = self._console.session.backend
            sessions.new(name, lambda: begin(program, backend))
        elif request.command == "duplicate":
            here = self._console.threads
            sessions.duplicate(name, lambda: begin(here.program, here.session.backend))
        elif request.command == "delete":
            sessions.delete(name)
        return told()

    def write_smallest(self, request: FindSmallest, path: str) -> Reply:
        from gradstep.core.cli.console.smallest_commands import find  # which is above this

        found, text = write_smallest(path, partial(find, self._console, request))
        return Reply(text, found)

    def _program(self, file: str) -> Program:
        return self._console.program_of(file) if file else self._console.threads.program
