"""The console's commands for several sessions: a new one, another one, copies between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.output.command_output import table
from gradstep.core.errors import GradstepError
from gradstep.core.host.session_answers import infos
from gradstep.core.protocol.messages import ManageSessions, SessionInfo

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
    return [mark, info.name, f"run {info.run + 1}, step {info.step}", ""]


def _data(console: Console) -> Mapping[str, Any]:
    found = [msgspec.to_builtins(info) for info in infos(console.sessions)]
    return {"sessions": found, "current": console.sessions.current}


def session(console: Console, name: str) -> Reply:
    """`session NAME`: commands are that session's from now on."""
    if not name:
        return _there(console)
    return _manage(console, ManageSessions(command="switch", name=name))


def new(console: Console, rest: str) -> Reply:
    """`new NAME [FILE]`: a session of the same graph, or of another one."""
    name, _, file = rest.partition(" ")
    request = ManageSessions(command="new", name=name)
    return console.acts.manage(request, lambda: _there(console), file.strip())


def duplicate(console: Console, name: str) -> Reply:
    """`duplicate NAME`: a session that starts from the values of now."""
    return _manage(console, ManageSessions(command="duplicate", name=name))


def end(console: Console, name: str) -> Reply:
    """`end NAME`."""
    return _manage(console, ManageSessions(command="delete", name=name))


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
    request = ManageSessions(command="copy", source=source, target=target, wanted=wanted)
    return _manage(console, request)


def _manage(console: Console, request: ManageSessions) -> Reply:
    return console.acts.manage(request, lambda: _there(console))


SESSION_COMMANDS = (
    ConsoleCommand("sessions", sessions, "all sessions, and what their variables hold", alone=True),
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
