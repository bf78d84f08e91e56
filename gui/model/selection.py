"""The selection as one thing: the operation, or the whole scope, that is selected."""

from __future__ import annotations

from collections.abc import Collection
from itertools import compress, repeat

from gradstep.core.graph.block_kinds import members
from gradstep.core.graph.scopes import parents
from gradstep.gui.model.workspace import Workspace


def selected_unit(workspace: Workspace) -> str:
    """What is selected if it is one thing: an operation's name, or a scope's with a slash behind;
    "" for anything else. Of one operation alone in a scope it is the scope that is closed."""
    chosen = frozenset(workspace.selection)
    first = min(chosen, default="")
    if first not in workspace.shown:
        return ""
    collapsed = workspace.document.view.collapsed
    scopes = [s for s in parents(first) if len(chosen) > 1 or s in collapsed]
    for scope in scopes:
        if _is_all_of(chosen, f"{scope}/", workspace.shown.operations):
            return f"{scope}/"
    return first if len(chosen) == 1 else ""


def selected_scope(workspace: Workspace) -> str:
    """The scope that is selected, or else the innermost one that all that is selected is in; "" for
    none."""
    unit = selected_unit(workspace)
    if unit.endswith("/"):
        return unit[:-1]
    if not workspace.selection:
        return ""
    ends = min(workspace.selection), max(workspace.selection)  # names between them begin as both do
    around = frozenset(parents(ends[0])) & frozenset(parents(ends[1]))
    return max(around, key=len, default="")


def selected_units(workspace: Workspace) -> list[str]:
    """All that is selected: closed scopes of which all is, with a slash behind, and operations."""
    closed, units = workspace.document.view.collapsed, list[str]()
    found: dict[str, list[str]] = {}
    for name in workspace.selection:
        scope = next((scope for scope in parents(name) if scope in closed), "")
        found.setdefault(scope, []).append(name)
    units += found.pop("", ())
    inside = members(workspace.shown, found)
    for scope, chosen in found.items():
        units += [f"{scope}/"] if len(chosen) == len(inside[scope]) else chosen
    return units


def _is_all_of(chosen: Collection[str], prefix: str, names: Collection[str]) -> bool:
    """Whether these are just the operations whose names begin so. Looks no further than to the
    first that is not chosen."""
    if not all(name.startswith(prefix) for name in chosen):
        return False
    inside = compress(names, map(str.startswith, names, repeat(prefix)))
    return all(map(chosen.__contains__, inside))
