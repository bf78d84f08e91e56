"""Names that are free in a graph: of operations, of scopes, of copies of both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count

from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import LOOP, loop_of, within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.scopes import parents


def unique_name(graph: Graph, wanted: str) -> str:
    """`wanted`, or `wanted_1`, `wanted_2`… when it is taken (ignoring case, as in TensorFlow)."""
    return _free(wanted, collect_names(graph))


def fresh_scope(graph: Graph, wanted: str) -> str:
    """The same for a scope: neither a scope nor an operation is called so."""
    return _free(wanted, _all_names(graph))


def take_free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, numbered if it is among the names `taken`, to which it is added; these are in small
    letters."""
    found = _free(wanted, taken)
    taken.add(found.lower())
    return found


def names_of_copies(graph: Graph, names: Iterable[str]) -> dict[str, str]:
    """A free name for a copy of each operation. What is copied whole, a scope with all that is in
    it, gets another scope."""
    names = [*names]
    used, copies = collect_names(graph), {}
    moved = _moved_scopes(graph, names)
    for name in names:
        around = next((s for s in (*parents(name), name) if s in moved), "")
        copies[name] = take_free_name(moved.get(around, "") + name[len(around) :], used)
    return copies


def scopes_of_copies(copies: Mapping[str, str]) -> dict[str, str]:
    """The scopes that were copied whole -> those of their copies; copies: as from
    `names_of_copies`."""
    found = {}
    for old, new in copies.items():
        for scope in parents(old):
            rest = old[len(scope) :]
            if new.endswith(rest) and new != old:
                found[scope] = new.removesuffix(rest)
    return found


def check_name(name: str) -> None:
    """Raises GradstepError unless `name` is one that TensorFlow would take."""
    if not re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", name) or name.endswith("/"):
        raise GradstepError(
            f"'{name}' is not a valid operation name",
            kind="ValueError",
            hint="letters, digits, _ . - and / for scopes; it starts with a letter or digit",
        )


def collect_names(graph: Graph) -> set[str]:
    """The names of all operations, those in loops too, in small letters."""
    found = {*graph.lowered}
    for inner in _inner_graphs(graph):
        found |= collect_names(inner)
    return found


def is_taken(graph: Graph, name: str) -> bool:
    """Whether an operation is called so, in a loop too, in letters of any case."""
    return name.lower() in graph.lowered or any(is_taken(g, name) for g in _inner_graphs(graph))


def _inner_graphs(graph: Graph) -> Iterator[Graph]:
    for name in graph.marked[LOOP]:
        if (loop := loop_of(graph[name])) is not None:
            yield loop.graph


def _moved_scopes(graph: Graph, names: Collection[str]) -> dict[str, str]:
    """The outermost scopes of which nothing stays behind -> the scopes of their copies. What is
    called as a scope belongs to it."""
    there = _counted(op.name for op in within(graph))
    copied = _counted(name for name in names)
    scopes = {scope for name in names for scope in parents(name)}
    whole = {scope for scope in scopes if copied[scope] >= there[scope] > 0}
    used, moved = _all_names(graph), {}
    for scope in sorted(whole):
        if whole.isdisjoint(parents(scope)):
            moved[scope] = take_free_name(scope, used)
    return moved


def _counted(names: Iterable[str]) -> Counter[str]:
    """Scope -> how many operations are in it, or called so."""
    return Counter(scope for name in names for scope in (*parents(name), name))


def _all_names(graph: Graph) -> set[str]:
    """Those of operations and scopes, in small letters."""
    operations = collect_names(graph)
    return operations | {scope for name in operations for scope in parents(name)}


def _free(wanted: str, used: Collection[str]) -> str:
    numbered = (f"{wanted}_{number}" if number else wanted for number in count())
    return next(name for name in numbered if name.lower() not in used)
