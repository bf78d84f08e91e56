"""Branches of runs: another one shown, named, dropped."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.io.native.document_diff import Difference, apply
from gradstep.core.protocol.branch_queries import SEED
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    BranchesKept,
    Failed,
    KeepBranches,
    ManageBranches,
    Message,
    Moment,
)
from gradstep.gui.model.engine_sync import same_run
from gradstep.gui.model.tried_document import tried
from gradstep.gui.model.workspace import Workspace


def switch_branch(workspace: Workspace, name: str) -> None:
    """Show another branch, where it was left."""
    workspace.sessions.ask(ManageBranches(command="switch", name=name))


def rename_branch(workspace: Workspace, name: str, to: str) -> None:
    """Call it something else."""
    workspace.sessions.ask(ManageBranches(command="rename", name=name, to=to))


def reseed(workspace: Workspace) -> None:
    """Draw other random numbers from here on, on a branch: by a seed that no other one has."""
    stop = workspace.stop
    seed = 1 if stop is None else len(stop.branches) + 1
    workspace.sessions.inject(SEED, np.array(seed, np.int64))


def edit_on_branch(workspace: Workspace, kind: str, *names: str) -> None:
    """Run an edited program from the beginning of this run on, on a branch; the document stays as
    it is. See gradstep.core.document.named_edits."""
    asked = ManageBranches(command="edit", kind=kind, edited=[*names])
    workspace.sessions.ask(asked)


def try_stop(workspace: Workspace, edge: Edge | None = None) -> None:
    """Stop the gradient on a branch, or let it through again: on a wire, the selected one, or where
    none is, what the selected node gives."""
    from gradstep.core.ops.typing.flatten_loops import original_edge  # not at the first paint

    request, graph = tried(workspace).request, workspace.document.graph
    wire = edge or workspace.selected_edge
    if wire is not None:
        stopped = original_edge(graph, wire) in request.stopped_edges
        edit_on_branch(workspace, "unstop" if stopped else "stop", str(original_edge(graph, wire)))
    elif workspace.selection:
        ref = TensorRef(workspace.selection[0])
        edit_on_branch(workspace, "unstop" if ref in request.stops else "stop", str(ref))


def take_edits(workspace: Workspace, name: str) -> None:
    """Make the edits of a branch's program in the document."""
    workspace.edit(f"Take {name}", tried(workspace, name))


def compare_branch(workspace: Workspace, name: str) -> None:
    """What is shown, held against where another branch was left, in the device panel's table."""
    workspace.ask_window("show", "device_diff")
    workspace.debugger.compare_moments(Moment(branch=name), Moment())


def keep_branches(workspace: Workspace) -> None:
    """Let the document keep the branches that there are: they are there again when it is opened."""
    asked_of = workspace.document

    def arrived(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Failed):
            workspace.complain(reply.error)
        elif not same_run(asked_of, workspace.document):
            keep_branches(workspace)  # they are of what is edited by now
        elif isinstance(reply, BranchesKept):
            found = apply(Document(), Difference.from_buffers(reply.members, buffers))
            document = workspace.document.with_(branches=found.branches)
            workspace.edit("Keep branches", document)
            workspace.say(f"The document keeps {reply.count} besides the first")

    workspace.request(KeepBranches(), (), arrived)


def drop_branch(workspace: Workspace, name: str) -> None:
    """Forget it; what it leaves is shown, if it was."""
    workspace.sessions.ask(ManageBranches(command="drop", name=name))
