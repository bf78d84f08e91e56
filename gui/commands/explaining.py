"""Asking the engine why a gradient is as it is."""

from __future__ import annotations

from collections.abc import Callable

from core.autodiff.walking import reached
from core.graph.model import TensorRef
from core.host.messages import Explained, Failed, Message, Why
from core.host.wire import Buffer
from core.io.requests import requests
from gui.commands.revealing import reveal
from gui.workspace import Workspace


def ask_why(workspace: Workspace, ref: TensorRef, say: Callable[[str], None]) -> None:
    """Ask why the gradient at a tensor is as it is, say it, and go to where it happens; the way
    there is selected."""
    document = workspace.document
    losses = [y for request in requests(document) for y in request.of if ref in request.wrt]
    losses = losses or [y for request in requests(document) for y in request.of]
    if not losses:
        return
    of = reached(document.graph, ref, losses)

    def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Explained):
            found = reply.explanation
            say(found.text)
            if found.path:
                reveal(workspace, *found.path, at=found.node or "")
        elif isinstance(reply, Failed):
            workspace.complain(reply.error)

    workspace.request(Why(of=of.short, wrt=ref.short), (), answered)


def why_selected(workspace: Workspace) -> None:
    """The same for the selected node."""
    ref = workspace.shown[workspace.selection[0]].output()
    ask_why(workspace, ref, lambda text: workspace.message.emit("note", text))
