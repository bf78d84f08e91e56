"""Commands about gradients: requests, stops, overrides, and the functions behind them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, Optimizer
from gradstep.core.graph.model import Edge
from gradstep.core.program.trust.code_trust import revoke
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.workspace import Workspace


@says_why
def toggle_stop(workspace: Workspace, edge: Edge | None = None) -> None:
    """Stop the gradient on a wire, or let it through again; without one, on the selected wire, or
    on every wire into the selected node."""
    document = workspace.document
    for wire in [edge] if edge is not None else _selected_wires(workspace):
        document = document_edits.toggle_stop(document, wire)
    if document is not workspace.document:
        workspace.edit("Toggle stop_gradient", document)


def _selected_wires(workspace: Workspace) -> list[Edge]:
    if workspace.selected_edge is not None:
        return [workspace.selected_edge]
    graph = workspace.shown
    return [
        Edge(name, index)
        for name in workspace.selection
        if name in graph
        for index, ref in enumerate(graph[name].inputs)
        if ref is not None
    ]


@says_why
def set_override(workspace: Workspace, override: Override) -> None:
    document = document_edits.set_override(workspace.document, override)
    workspace.edit(f"Override {override.target} by {override.gradient}", document)


@says_why
def clear_override(workspace: Workspace, kind: OverrideKind, target: str) -> None:
    document = document_edits.clear_override(workspace.document, kind, target)
    workspace.edit(f"Native gradient for {target}", document)


@says_why
def toggle_override(workspace: Workspace, index: int) -> None:
    """Switch override number `index` of the request off, or on again."""
    override = workspace.document.request.overrides[index]
    state = "off" if override.enabled else "on"
    document = document_edits.toggle_override(workspace.document, index)
    workspace.edit(f"Override of {override.target} {state}", document)


@says_why
def use_native_gradient(workspace: Workspace, name: str) -> None:
    """Give an operation the gradient of its type, whatever takes its place."""
    document = document_edits.use_native(workspace.document, name)
    workspace.edit(f"Native gradient for {name}", document)


@says_why
def set_request(
    workspace: Workspace,
    of: Sequence[str],
    wrt: Sequence[str],
    grad_ys: Sequence[str | None] | None = None,
    unconnected_zero: bool | None = None,
    gate: bool | None = None,
) -> None:
    """Ask for the gradients of `of` with respect to `wrt`; see
    gradstep.core.document.request_edits.set_request."""
    document = document_edits.set_request(
        workspace.document, of, wrt, grad_ys, unconnected_zero, gate
    )
    workspace.edit(f"Differentiate {', '.join(of) or 'nothing'}", document)


@says_why
def set_optimizers(workspace: Workspace, optimizers: Sequence[Optimizer]) -> None:
    """Train by these and no others; see gradstep.core.document.request_edits.set_optimizers."""
    label = f"Optimizer {', '.join(o.type for o in optimizers)}" if optimizers else "No optimizer"
    workspace.edit(
        label, document_edits.set_optimizers(workspace.document, optimizers), "optimizers"
    )


def check_gradients(workspace: Workspace) -> None:
    """Compare native, overridden and numeric gradients; table_changed follows."""
    workspace.debugger.check()


def check_node(workspace: Workspace, name: str) -> None:
    """Compare one node's gradient with finite differences of it alone; table_changed follows."""
    workspace.debugger.check(name)


@says_why
def set_code(workspace: Workspace, item: CodeItem) -> None:
    workspace.edit(f"Edit {item.name}", document_edits.set_code(workspace.document, item))


@says_why
def override_by_code(workspace: Workspace, item: CodeItem, override: Override) -> None:
    """Add a gradient function and put it in force, as one step."""
    document = document_edits.set_override(
        document_edits.set_code(workspace.document, item), override
    )
    workspace.edit(f"Override {override.target} by {item.name}", document)


@says_why
def trust(workspace: Workspace, permission: Permission) -> None:
    """Decide what the document's Python may do; remembered."""
    workspace.trust(permission)


def revoke_trust(workspace: Workspace, programs: Collection[str]) -> None:
    """Forget decisions about Python, by fingerprint; the open document's may be among them. Raises
    GradstepError."""
    revoke(programs)
    workspace.forget_trust(programs)
