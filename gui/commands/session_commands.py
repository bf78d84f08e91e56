"""Several sessions: making them, going to another, copying variables between them and windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradstep.core.document import document_edits
from gradstep.core.engine.run.variable_map import map_variables
from gradstep.core.errors import GradstepError
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Failed, ManageSessions, Message, Read, Values
from gradstep.core.protocol.vocabulary import SessionCommand
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace

MOST = 2**40  # elements of a variable: all that there are


def new_session(workspace: Workspace) -> None:
    """One more, whose variables have their initial values; it is shown."""
    _ask(workspace, "new", _unused_name(workspace))


def duplicate_session(workspace: Workspace) -> None:
    """One more, which goes on from the values of the one that is shown."""
    _ask(workspace, "duplicate", _unused_name(workspace))


def delete_session(workspace: Workspace) -> None:
    """End the one that is shown."""
    _ask(workspace, "delete", workspace.sessions.current)


def switch_session(workspace: Workspace, name: str) -> None:
    """Show another one: its values, its runs, where it stands."""
    _ask(workspace, "switch", name)


def copy_variables(workspace: Workspace, source: str, target: str, wanted: Sequence[str]) -> None:
    """Copy values, as they are now; see gradstep.core.protocol.messages.ManageSessions for
    `wanted`."""
    request = ManageSessions(command="copy", source=source, target=target, wanted=[*wanted])
    workspace.sessions.ask(request)


@says_why
def copy_from_window(workspace: Workspace, other: Workspace, wanted: Sequence[str]) -> None:
    """Have variables start with what those of another window's graph hold where its debugger
    stands; see gradstep.core.engine.run.variable_map.map_variables for `wanted`. It is one edit of
    the document."""
    pairs = map_variables(other.document.graph, workspace.document.graph, wanted)
    where = other.name

    def arrived(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Failed):
            workspace.complain(reply.error)
        elif isinstance(reply, Values):
            _start_with(workspace, pairs, [TensorValue.of(p, buffers) for p in reply.parts], where)

    other.request(Read(refs=[f"{name}:0" for name in pairs.values()], limit=MOST), (), arrived)


@says_why
def _start_with(
    workspace: Workspace, pairs: Mapping[str, str], values: Sequence[TensorValue], where: str
) -> None:
    document = workspace.document
    for (name, old), value in zip(pairs.items(), values, strict=True):
        if value.array is None:
            raise GradstepError(
                f"Attempting to use uninitialized value {old}",
                kind="FailedPreconditionError",
                hint=f"it has no value where {where} stands: step there until it has",
            )
        document = document_edits.set_initial(document, name, value.array)
    workspace.edit(f"Copy values from {where}", document)
    workspace.say(f"From {where}: {', '.join(pairs)} start with its values")


def _ask(workspace: Workspace, command: SessionCommand, name: str) -> None:
    workspace.sessions.ask(ManageSessions(command=command, name=name))


def _unused_name(workspace: Workspace) -> str:
    """`session 2`, or the next number that is free."""
    taken = {*workspace.sessions.names}
    number = 2
    while f"session {number}" in taken:
        number += 1
    return f"session {number}"
