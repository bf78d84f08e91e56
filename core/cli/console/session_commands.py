"""The console's commands for several sessions: a new one, another one, copies between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.output.command_output import table
from gradstep.core.errors import GradstepError
from gradstep.core.host.session_answers import copy_variables, infos
from gradstep.core.host.session_restore import begin
from gradstep.core.protocol.messages import SessionInfo

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console


def sessions(console: Console, rest: str = "") -> Reply:
    """All of them, with what their variables hold."""
    rows: list[list[str]] = []
    for info in infos(console.sessions):
        rows.append(_row(console, info))
        rows += [["", "", name, value] for name, value in info.held.items()]
    return Reply(table(rows), _data(console))


def _there(console: Console) -> Reply:
    """The same in short."""
    rows = [_row(console, info) for info in infos(console.sessions)]
    return Reply(table(rows), _data(console))


def _row(console: Console, info: SessionInfo) -> list[str]:
    mark = "→" if info.name == console.sessions.current else ""
    return [mark, info.name, f"run {info.run}, step {info.step}", ""]


def _data(console: Console) -> Mapping[str, Any]:
    found = [msgspec.to_builtins(info) for info in infos(console.sessions)]
    return {"sessions": found, "current": console.sessions.current}


def session(console: Console, name: str) -> Reply:
    """`session NAME`: commands are that session's from now on."""
    if name:
        console.sessions.switch(name)
    return _there(console)


def new(console: Console, rest: str) -> Reply:
    """`new NAME [FILE]`: a session of the same graph, or of another one."""
    name, _, file = rest.partition(" ")
    here = console.threads
    program = console.program_of(file.strip()) if file.strip() else here.program
    console.sessions.new(name, lambda: begin(program, here.session.backend))
    return _there(console)


def duplicate(console: Console, name: str) -> Reply:
    """`duplicate NAME`: a session that starts from the values of now."""
    here = console.threads
    console.sessions.duplicate(name, lambda: begin(here.program, here.session.backend))
    return _there(console)


def end(console: Console, name: str) -> Reply:
    """`end NAME`."""
    console.sessions.delete(name)
    return _there(console)


def copy(console: Console, rest: str) -> Reply:
    """`copy FROM TO [NAME[=NAME] | SCOPE/[=SCOPE/]] …`."""
    words = rest.split()
    if len(words) < 2:
        raise GradstepError(
            "copy needs two sessions",
            kind="ValueError",
            hint="copy FROM TO [w | w=v | net/=other/]",
        )
    source, target, *wanted = words
    text = copy_variables(console.sessions, source, target, wanted)
    return Reply(text, _data(console))


SESSION_COMMANDS = (
    ConsoleCommand("sessions", sessions, "all sessions, and what their variables hold"),
    ConsoleCommand("session", session, "NAME: the commands are that session's from now on"),
    ConsoleCommand("new", new, "NAME [FILE]: a session of this graph, or of another file's"),
    ConsoleCommand("duplicate", duplicate, "NAME: a session that starts from the values of now"),
    ConsoleCommand("end", end, "NAME: that session is over"),
    ConsoleCommand(
        "copy",
        copy,
        "FROM TO [w | w=v | net/=other/] …: variables as they are now; all of the same name",
    ),
)
