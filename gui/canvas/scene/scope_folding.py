"""Collapsing a scope to one box, and opening it; an edit of the document's view."""

from __future__ import annotations

from collections.abc import Collection

from gradstep.core.graph.scopes import parents
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scene_boxes import Box
from gradstep.gui.commands import set_collapsed
from gradstep.gui.model.workspace import Workspace


def toggle(workspace: Workspace, arrays: SceneArrays, selected: Collection[int]) -> set[str]:
    """Open the selected scopes; if there is none, collapse the scopes around selected nodes.
    Returns which."""
    boxes = [arrays.visible.boxes[i] for i in selected]
    closed = {box.id.rstrip("/") for box in boxes if box.is_scope}
    around = {box.id.rpartition("/")[0] for box in boxes if not box.is_scope} - {""}
    collapsed = workspace.document.view.collapsed
    if closed:
        set_collapsed(workspace, collapsed - closed, f"Open {_named(closed)}")
    elif around:
        set_collapsed(workspace, collapsed | around, f"Collapse {_named(around)}")
    return closed or around


def open_all(workspace: Workspace) -> None:
    """No scope is one box."""
    set_collapsed(workspace, frozenset(), "Open every scope")


def collapse_all(workspace: Workspace) -> None:
    """Every scope is one box; those inside others wait until the outer ones are opened."""
    graph = workspace.shown
    scopes = frozenset(scope for op in graph for scope in parents(op.name))
    set_collapsed(workspace, scopes, "Collapse every scope")


def open_box(workspace: Workspace, box: Box) -> None:
    scope = box.id.rstrip("/")
    set_collapsed(workspace, workspace.document.view.collapsed - {scope}, f"Open {scope}")


def collapse(workspace: Workspace, scope: str) -> None:
    set_collapsed(workspace, workspace.document.view.collapsed | {scope}, f"Collapse {scope}")


def _named(scopes: set[str]) -> str:
    return next(iter(scopes)) if len(scopes) == 1 else f"{len(scopes)} scopes"
