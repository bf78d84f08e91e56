"""Asking the engine about the shape of the graph: what all of a gradient passes, and what is
repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.graph.model import Edge
from core.host.messages import (
    Bottlenecks,
    Failed,
    FindBottlenecks,
    FindRepeats,
    Message,
    Repeats,
)
from core.host.wire import Buffer
from core.io import edits
from gui.commands.revealing import reveal
from gui.commands.saying import says_why
from gui.workspace import Workspace

_NAMED = 4  # operations, wires or scopes that are named one by one


def select_passes(workspace: Workspace) -> None:
    """Select the operations that all of the selected node's gradient passes, and say which stops
    would end it."""

    def found(what: Bottlenecks) -> None:
        if what.passes:
            reveal(workspace, *what.passes)
            passes = f"passes {_names(what.passes)}"
        else:
            passes = "passes no one operation"
        ends = f"{_wires(len(what.cut))} ({_names(what.cut)})"
        workspace.message.emit("note", f"All of {_gradient(what)} {passes}. Stops at {ends} end it")

    _ask_bottlenecks(workspace, found)


def stop_altogether(workspace: Workspace) -> None:
    """Stop the selected node's gradient on as few wires as can be."""

    @says_why
    def found(workspace: Workspace, what: Bottlenecks) -> None:
        document = workspace.document
        for wire in what.cut:
            document = edits.toggle_stop(document, Edge.parse(wire))
        workspace.edit(f"Stop the gradient of {what.wrt}", document)
        text = f"{_gradient(what)} is stopped on {_wires(len(what.cut))}: {_names(what.cut)}"
        workspace.message.emit("note", text)

    _ask_bottlenecks(workspace, lambda what: found(workspace, what))


def select_repeats(workspace: Workspace) -> None:
    """Select the innermost blocks that are like the one around the selection; asked again, those
    around these."""

    def found(reply: Message) -> None:
        if isinstance(reply, Repeats) and reply.scopes:
            workspace.select(reply.names)
            size = len(reply.names) // len(reply.scopes)
            text = f"{len(reply.scopes)} blocks of {size} operations are alike"
            workspace.message.emit("note", f"{text}: {_names(reply.scopes)}")
        else:
            workspace.message.emit("info", "no block around what is selected is repeated")

    _ask(workspace, FindRepeats(names=[*workspace.selection]), found)


def _ask_bottlenecks(workspace: Workspace, then: Callable[[Bottlenecks], None]) -> None:
    """`then(reply)` where a gradient reaches the selected node; else it is said that none does."""
    ref = workspace.shown[workspace.selection[0]].output()

    def found(reply: Message) -> None:
        if isinstance(reply, Bottlenecks) and reply.cut:
            then(reply)
        elif isinstance(reply, Bottlenecks):
            workspace.message.emit("info", f"no wire brings a gradient to {reply.wrt}")

    _ask(workspace, FindBottlenecks(wrt=ref.short), found)


def _ask(workspace: Workspace, question: Message, then: Callable[[Message], None]) -> None:
    """`then(reply)`, unless another document, or an edit, has come between."""
    document = workspace.document

    def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Failed):
            workspace.complain(reply.error)
        elif workspace.document is document:
            then(reply)

    workspace.request(question, (), answered)


def _gradient(what: Bottlenecks) -> str:
    return f"d {what.of} / d {what.wrt}"


def _wires(count: int) -> str:
    return "1 wire" if count == 1 else f"{count} wires"


def _names(names: Sequence[str]) -> str:
    """The first few."""
    rest = len(names) - _NAMED
    return ", ".join([*names[:_NAMED], *([f"and {rest} more"] if rest > 0 else [])])
