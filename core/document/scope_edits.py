"""Putting nodes into a scope of their own, and taking a scope off what is in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from gradstep.core.autodiff.reverse.gradient_request import OverrideKind
from gradstep.core.debug.breaks.breakpoints import BreakpointKind
from gradstep.core.document.document import Document
from gradstep.core.document.node_positions import held
from gradstep.core.document.node_renaming import rename_node
from gradstep.core.errors import GradstepError
from gradstep.core.graph.free_names import fresh_scope, take_free_name
from gradstep.core.graph.loop import anywhere, within
from gradstep.core.graph.relabel import relabel
from gradstep.core.graph.scopes import is_inside, move_name, parents

SCOPE = "group"  # what a new one is called until the user names it


def group(document: Document, units: Collection[str]) -> tuple[Document, str, dict[str, str]]:
    """Put nodes, each with what is in its loop, and scopes, whose names end in "/", into a new
    scope in the innermost one around them all. Returns the scope, and old name -> new. Raises
    GradstepError for a name that there is not, and where a gradient override is for all of a scope
    that only a part goes out of."""
    nodes = [anywhere(document.graph, name) for name in units if not name.endswith("/")]
    scopes = [name for name in units if name.endswith("/")]
    inside = (op for op in within(document.graph) if any(is_inside(op.name, s) for s in scopes))
    chosen = dict.fromkeys(op.name for op in (*within(nodes), *inside))
    if not chosen:
        raise GradstepError("there is nothing to group", kind="ValueError", hint="select nodes")
    around = _around(units)
    prefix = f"{around}/" if around else ""
    scope = fresh_scope(document.graph, f"{prefix}{SCOPE}")
    moved = {name: f"{scope}/{name[len(prefix) :]}" for name in chosen if name.startswith(prefix)}
    whole = {old: f"{scope}/{old[len(prefix) :]}" for old in _whole(document, moved, around)}
    for inner in _inner(moved, around):
        if inner not in whole:
            _require_plain(document, inner)
    return _renamed(document, moved, whole), scope, moved


def dissolve(document: Document, scope: str) -> tuple[Document, dict[str, str]]:
    """Take a scope away: what is in it is in the one around, under a name that is free there.
    Returns old name -> new. Raises GradstepError where there is no such scope, and where a gradient
    override is for all of it."""
    names = [op.name for op in within(document.graph)]
    inside = [name for name in names if is_inside(name, scope)]
    if not inside:
        raise GradstepError(f"there is no scope '{scope}'", kind="LookupError")
    _require_plain(document, scope)
    outer = scope.rpartition("/")[0]
    prefix = f"{outer}/" if outer else ""
    others = (name for name in names if not is_inside(name, scope))
    taken = {part.lower() for name in others for part in (*parents(name), name)}
    heads = {f"{scope}/{name[len(scope) + 1 :].partition('/')[0]}" for name in inside}
    free = {head: take_free_name(prefix + head.rpartition("/")[2], taken) for head in sorted(heads)}
    moved = {name: _moved(name, free) for name in inside}
    scopes = {s: _moved(s, free) for name in inside for s in parents(name) if is_inside(s, scope)}
    # First of all: what was inside may be called as it was.
    document = _without_place(document, scope)
    return _renamed(document, moved, scopes), moved


def _around(names: Collection[str]) -> str:
    """The innermost scope that all of these operations and scopes are in."""
    shared = frozenset.intersection(*(frozenset(parents(name.rstrip("/"))) for name in names))
    return max(shared, key=len, default="")


def _whole(document: Document, moved: Collection[str], around: str) -> Iterator[str]:
    """Scopes in `around` of which every operation is among those that move."""
    there = Counter(s for op in within(document.graph) for s in parents(op.name))
    going = Counter(s for name in moved for s in parents(name))
    return (scope for scope in _inner(moved, around) if going[scope] == there[scope])


def _inner(names: Iterable[str], around: str) -> list[str]:
    """The scopes in `around` that these operations are in."""
    scopes = dict.fromkeys(s for name in names for s in parents(name))
    return [scope for scope in scopes if not around or is_inside(scope, around)]


def _moved(name: str, free: Mapping[str, str]) -> str:
    """The name of an operation or scope, where what is called as a key, and in it, is elsewhere."""
    head = next(head for head in free if name == head or is_inside(name, head))
    return free[head] if name == head else move_name(name, head, free[head])


def _renamed(document: Document, moved: Mapping[str, str], scopes: Mapping[str, str]) -> Document:
    def name_of(name: str) -> str:
        return moved.get(name, name)

    def scope_of(scope: str) -> str:
        return scopes.get(scope, scope)

    graph = relabel(document.graph, name_of)
    return rename_node(replace(document, graph=graph), name_of, scope_of)


def _without_place(document: Document, scope: str) -> Document:
    """Without what is kept for a scope's box alone: where it stands, whether it is folded, and
    breakpoints on it."""
    kind, view = BreakpointKind.SCOPE, document.view
    breakpoints = (b for b in document.breakpoints if b.kind is not kind or b.target != scope)
    positions = {k: v for k, v in view.positions.items() if k != f"{scope}/"}
    collapsed = view.collapsed - {scope}
    view = replace(view, positions=held(positions), collapsed=collapsed)
    return replace(document, breakpoints=tuple(breakpoints), view=view)


def _require_plain(document: Document, scope: str) -> None:
    """Raises GradstepError where something is said of the scope that would hold no more."""
    overrides = (o for o in document.request.overrides if o.kind is OverrideKind.SCOPE)
    if any(o.target_name == scope for o in overrides):
        raise GradstepError(
            f"an override gives all that is in '{scope}' its gradients",
            kind="ValueError",
            hint="take the override off first, or move it to the operations",
        )
    if any(one.scope == scope for one in document.imported):
        raise GradstepError(
            f"the gradients that came with the file are in '{scope}', and known by it",
            kind="ValueError",
            hint="leave their scope as it is",
        )
