"""Asking the engine about the shape of the graph: gradient cuts, and repeated blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradstep.core.graph.model import Edge
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Bottlenecks,
    Failed,
    FindBottlenecks,
    FindRepeats,
    Message,
    Repeats,
    Request,
)
from gradstep.gui.commands.reveal import reveal
from gradstep.gui.model.workspace import Workspace

_NAMED = 4  # operations, wires or scopes that are named one by one


def select_passes(workspace: Workspace) -> None:
    """Select the operations that all of the selected node's gradient passes, and say which stops
    would end it."""
    ref = workspace.shown[workspace.selection[0]].output()

    def found(reply: Message) -> None:
        if isinstance(reply, Bottlenecks) and reply.cut:
            if reply.passes:
                reveal(workspace, *reply.passes)
            workspace.say(_said(workspace, reply), "note")
        else:
            workspace.say(f"no wire brings a gradient to {ref.short}")

    _ask(workspace, FindBottlenecks(wrt=ref.short), found)


def select_repeats(workspace: Workspace) -> None:
    """Select the innermost blocks that are like the one around the selection; asked again, those
    around these."""

    def found(reply: Message) -> None:
        if isinstance(reply, Repeats) and reply.scopes:
            workspace.select(reply.names)
            size = len(reply.names) // len(reply.scopes)
            text = f"{len(reply.scopes)} blocks of {size} operations are alike"
            workspace.say(f"{text}: {_names(reply.scopes)}", "note")
        else:
            workspace.say("no block around what is selected is repeated")

    _ask(workspace, FindRepeats(names=[*workspace.selection]), found)


def _ask(workspace: Workspace, question: Request, then: Callable[[Message], None]) -> None:
    """`then(reply)`, unless another document, or an edit, has come between."""
    document = workspace.document

    def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Failed):
            workspace.complain(reply.error)
        elif workspace.document is document:
            then(reply)

    workspace.debugger.ask(question, (), answered)


def _said(workspace: Workspace, found: Bottlenecks) -> str:
    passes = _names(found.passes) if found.passes else "no one operation"
    wires = _names([_wire(workspace, Edge.parse(wire)) for wire in found.cut])
    ends = f"A stop at {wires} ends" if len(found.cut) == 1 else f"Stops at {wires} end"
    return f"All of d {found.of} / d {found.wrt} passes {passes}. {ends} it"


def _wire(workspace: Workspace, edge: Edge) -> str:
    """c → e."""
    source = workspace.shown.source(edge)
    return str(edge) if source is None else f"{source.short} → {edge.op}"


def _names(names: Sequence[str]) -> str:
    """The first few."""
    rest = len(names) - _NAMED
    return ", ".join([*names[:_NAMED], *([f"and {rest} more"] if rest > 0 else [])])
