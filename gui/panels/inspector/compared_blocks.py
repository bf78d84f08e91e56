"""Which equal blocks are compared: those of the selected stack, or those like a selected block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradstep.core.graph.block_kinds import members
from gradstep.core.graph.block_results import block_results
from gradstep.core.graph.scopes import parents
from gradstep.core.graph.stacked_blocks import equal_siblings, stacks_in
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.gui.model.selection import selected_unit
from gradstep.gui.model.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ComparedBlock:
    """scope; operations: how many are in it; result: the tensor that leaves it; weights: the
    tensors of its variables. In full names, "a:0"."""

    scope: str
    operations: int
    result: str
    weights: tuple[str, ...]


def compared_scopes(workspace: Workspace) -> tuple[Sequence[str], str]:
    """The equal blocks in a row that are selected together, or of which one is, and that one; none
    where something else is selected."""
    chosen = workspace.selection
    if len(chosen) < 2:
        return (), ""
    stack = _stack_of(workspace, chosen[0])
    if stack and _are_all(workspace, chosen, stack):
        return stack, ""
    scope = selected_unit(workspace).rstrip("/")
    return equal_siblings(scope, workspace.stacks.kinds) if scope else (), scope


def compared_blocks(workspace: Workspace, scopes: Sequence[str]) -> list[ComparedBlock]:
    """What is to be read of each of some equal blocks."""
    if not scopes:
        return []
    graph = workspace.shown
    inside = members(graph, scopes)
    results = block_results(graph, inside)
    return [
        ComparedBlock(
            scope,
            len(names),
            str(results[scope]),
            tuple(str(graph[n].output()) for n in names if graph[n].type in VARIABLES),
        )
        for scope, names in inside.items()
    ]


def _stack_of(workspace: Workspace, name: str) -> tuple[str, ...]:
    """The blocks of the stack that shows an operation; none where nothing does."""
    shown_by = workspace.stacks.shown_by
    scope = next((scope for scope in parents(name) if scope in shown_by), None)
    return () if scope is None else stacks_in(shown_by).get(shown_by[scope], ())


def _are_all(workspace: Workspace, chosen: Sequence[str], scopes: Sequence[str]) -> bool:
    """Whether these are just the operations in some scopes."""
    prefixes = tuple(f"{scope}/" for scope in scopes)
    inside = {name for name in workspace.shown.operations if name.startswith(prefixes)}
    return inside == {*chosen}
