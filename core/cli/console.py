"""The debugger's console: a line of text in, what happened out. No terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from core.cli.output import error_object, error_text, table, tensor_object, tensor_text
from core.debug.breakpoints import Breakpoint, BreakpointKind
from core.debug.session import DebugSession
from core.debug.stop import Reason, Stop
from core.errors import GradstepError
from core.graph.model import Phase, TensorRef, unknown_name
from core.graph.scopes import parents
from core.host.reports import program_info, stopped

_LISTED = 4  # steps that `list` shows before and after the current one


@dataclass(frozen=True)
class Reply:
    """What a command did: text for people, fields for JSON, and whether to go on."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    quit: bool = False


class Console:
    """Commands by name on one debug session. Raises GradstepError for what cannot be done."""

    def __init__(self, session: DebugSession, breakpoints: tuple[Breakpoint, ...] = ()) -> None:
        self.session = session
        self._breakpoints = list(breakpoints)
        self._info = program_info(session)
        self._last = "step"
        session.set_breakpoints(self._breakpoints)

    def execute(self, line: str) -> Reply:
        """Do one command; an empty line repeats the last move."""
        word, _, rest = line.strip().partition(" ")
        name = ALIASES.get(word or self._last, word or self._last)
        command = COMMANDS.get(name)
        if command is None:
            near = unknown_name(name, [*COMMANDS, *ALIASES]).hint
            raise GradstepError(
                f"there is no command '{name}'", kind="ValueError", hint=near or "help lists them"
            )
        if name in _MOVES:
            self._last = name
        return command(self, rest.strip())

    # -- moves ---------------------------------------------------------------------------------

    def move(self, name: str, target: str = "") -> Reply:
        """One of the session's moves."""
        return self._at(self.session.command(name, target))

    def run_to(self, target: str) -> Reply:
        """To just before an operation, or exactly to run:step."""
        if not target:
            raise _missing("run_to", "a node, or run:step")
        return self.move("run_to", target)

    def where(self, rest: str = "") -> Reply:
        """Where the session stands, without moving."""
        return self._at(self.session.stop)

    def _at(self, stop: Stop) -> Reply:
        said = stopped(self.session, stop)
        total = len(self.session.plan.steps)
        text = f"[{stop.reason}] run {stop.run}, step {stop.step} of {total}"
        if stop.op:
            text += f" · {stop.phase} · {stop.node}: {said.text or stop.op}"
        if stop.error is not None:
            text += f"\n  failed: {error_text(stop.error)}"
        data: dict[str, Any] = {
            name: getattr(said, name)
            for name in ("reason", "run", "step", "runs", "phase", "node", "op", "text")
        }
        if stop.error is not None:
            data["error"] = error_object(stop.error)
        return Reply(text, {"stop": data})

    # -- looking -------------------------------------------------------------------------------

    def print_value(self, name: str) -> Reply:
        """`print NAME`: the value as of now; `print grad NAME`: its gradient."""
        asked, _, of = name.partition(" ")
        if asked in ("grad", "gradient") and of:
            return self.gradient(of.strip())
        if not name:
            raise _missing("print", "the name of a tensor")
        self.session.program.graph[TensorRef.parse(name).op]
        return _value(name, self.session.frame().value(name), "not computed yet")

    def gradient(self, name: str) -> Reply:
        """The gradient with respect to a tensor as of now."""
        ref = TensorRef.parse(name)
        self.session.program.graph[ref.op]
        if ref not in self.session.program.gradients:
            return _value(f"∂{name}", None, "None: no gradient flows there")
        return _value(f"∂{name}", self.session.frame().gradient(ref), "not computed yet")

    def list_steps(self, rest: str = "") -> Reply:
        """The steps around the current one; `list all`: every step."""
        now, steps = self.session.stop.step, self._info.steps
        around = range(max(0, now - _LISTED), min(len(steps), now + _LISTED + 1))
        shown = range(len(steps)) if rest == "all" else around
        rows = [
            ["→" if i == now else "", str(i), steps[i].phase, steps[i].origin, steps[i].text]
            for i in shown
        ]
        return Reply(table(rows), {"steps": [msgspec.to_builtins(steps[i]) for i in shown]})

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
        self._want_target(kind, place.strip())
        self._set([*self._breakpoints, Breakpoint(place.strip(), kind, condition.strip())])
        return self.breakpoints()

    def _want_target(self, kind: BreakpointKind, target: str) -> None:
        """Raise GradstepError when nothing in the program is called `target`."""
        graph = self.session.program.graph
        if kind in (BreakpointKind.OP, BreakpointKind.GRADIENT):
            graph[target]
            return
        known = {
            BreakpointKind.TYPE: {op.type for op in graph},
            BreakpointKind.PHASE: {phase.value for phase in Phase},
            BreakpointKind.SCOPE: {scope for op in graph for scope in parents(op.name)},
        }[kind]
        if target.rstrip("/") not in known:
            raise GradstepError(
                f"there is no {kind.value} '{target}' in this graph",
                kind="KeyError",
                hint=unknown_name(target, sorted(known)).hint,
            )

    def delete(self, rest: str) -> Reply:
        """`delete N`, by the number in the list; `delete` alone: all."""
        if not rest:
            self._set([])
        elif rest.isdecimal() and 0 < int(rest) <= len(self._breakpoints):
            self._set([b for i, b in enumerate(self._breakpoints, 1) if i != int(rest)])
        else:
            raise _missing("delete", f"a number from 1 to {len(self._breakpoints)}")
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
        self.session.set_breakpoints(breakpoints)
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


def _value(name: str, array: np.ndarray | None, otherwise: str) -> Reply:
    text = otherwise if array is None else tensor_text(array)
    return Reply(f"{name}  {text}", {"name": name, "value": tensor_object(array)})


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
    "print": Console.print_value,
    "gradient": Console.gradient,
    "where": Console.where,
    "list": Console.list_steps,
    "help": Console.show_help,
    "quit": Console.leave,
}
ALIASES: Mapping[str, str] = {
    "n": "step", "next": "step", "s": "step",
    "i": "step_into", "into": "step_into", "step_in": "step_into", "stepIn": "step_into",
    "o": "step_out", "out": "step_out", "stepOut": "step_out",
    "sb": "step_back", "back": "step_back", "stepBack": "step_back",
    "c": "continue", "continue_": "continue",
    "rc": "reverse_continue", "reverseContinue": "reverse_continue",
    "u": "run_to", "goto": "run_to",
    "b": "break", "p": "print", "g": "gradient", "grad": "gradient", "w": "where", "l": "list",
    "q": "quit", "exit": "quit", "?": "help",
}  # fmt: skip
HELP: Mapping[str, str] = {
    "step": "over one forward operation, or over all gradient operations of one",
    "step_into": "over one single operation",
    "step_out": "to the end of the group or scope",
    "step_back": "back to where the step before began",
    "continue": "to the next breakpoint, or the end of the run",
    "reverse_continue": "back to the breakpoint before, or the start of the run",
    "run_to": "NODE: to just before it; RUN:STEP: exactly there, forward or back",
    "restart": "forget all runs",
    "break": "[gradient|scope|type|phase] NAME [if EXPRESSION]",
    "breakpoints": "all breakpoints by number",
    "delete": "N, or all",
    "print": "NAME: its value as of now",
    "gradient": "NAME: the gradient with respect to it as of now",
    "where": "where the session stands",
    "list": "the steps around the current one; list all",
    "help": "this",
    "quit": "leave",
}
_MOVES = frozenset(list(COMMANDS)[:6])
