"""Blocks that a graph repeats: name scopes with the same operations, wired alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.graph.block_signature import BlockGraph, label_of
from gradstep.core.graph.model import Graph
from gradstep.core.graph.scopes import parents

SMALLEST = 3  # operations of a block


@dataclass(frozen=True, slots=True)
class Repeated:
    """scopes: those that are alike, in order of creation; operations: how many are in each."""

    scopes: tuple[str, ...]
    operations: int


def repeated_blocks(graph: Graph) -> list[Repeated]:
    """Scopes that are alike, the groups with most in them first. What is only repeated because the
    scope around it is, is left out."""
    members = _members(graph)
    groups = [
        Repeated(tuple(found), len(members[found[0]]))
        for bucket in _buckets(graph, members).values()
        for found in _alike(graph, members, bucket)
        if len(found) > 1
    ]
    outer = {scope: group for group in groups for scope in group.scopes}
    groups = [group for group in groups if not _follows(group, outer)]
    return sorted(groups, key=lambda g: -len(g.scopes) * g.operations)


def blocks_around(graph: Graph, names: Collection[str]) -> tuple[str, ...]:
    """The innermost scope around some operation of `names` that is repeated, and the scopes like
    it: such that all `names` lie in them, and others do besides. Nothing where there is none."""
    members, chosen = _members(graph), frozenset(names)
    for scope in reversed([*parents(min(chosen, default=""))]):
        found = _like(graph, members, scope)
        inside = {name for each in found for name in members[each]}
        if len(found) > 1 and chosen < inside:
            return found
    return ()


def _like(graph: Graph, members: Mapping[str, Sequence[str]], scope: str) -> tuple[str, ...]:
    """The scopes that are like `scope`, itself included, in order of creation."""
    if scope not in members:
        return ()
    size, types = len(members[scope]), _types(graph, members[scope])
    same = [s for s, names in members.items() if len(names) == size and s != scope]
    same = [s for s in same if _types(graph, members[s]) == types]
    found = {*_alike(graph, members, [scope, *same])[0]}
    return tuple(s for s in members if s in found)


def _members(graph: Graph) -> dict[str, list[str]]:
    """The operations in each scope, at any depth. A scope that holds nothing but another stands for
    both."""
    members: dict[str, list[str]] = {}
    around: dict[str, tuple[str, ...]] = {}
    for name, op in graph.operations.items():
        scope = op.scope
        if scope not in around:
            around[scope] = (*parents(scope), scope) if scope else ()
        for each in around[scope]:
            members.setdefault(each, []).append(name)
    return {
        scope: names
        for scope, names in members.items()
        if len(members.get(scope.rpartition("/")[0], ())) != len(names)
    }


def _buckets(graph: Graph, members: Mapping[str, Sequence[str]]) -> Mapping[Hashable, list[str]]:
    """Scopes that may be alike: with as many operations of each type."""
    found: dict[Hashable, list[str]] = defaultdict(list)
    for scope, names in members.items():
        if len(names) >= SMALLEST:
            found[frozenset(_types(graph, names).items())].append(scope)
    return found


def _types(graph: Graph, names: Iterable[str]) -> Counter[str]:
    return Counter(graph[name].type for name in names)


def _follows(group: Repeated, outer: Mapping[str, Repeated]) -> bool:
    """Whether there is one of the group in each of the scopes around them, which are alike."""
    around = {scope.rpartition("/")[0] for scope in group.scopes}
    groups = {id(outer[scope]) if scope in outer else 0 for scope in around}
    return groups != {0} and len(groups) == 1 and len(around) == len(group.scopes)


def _alike(
    graph: Graph, members: Mapping[str, Sequence[str]], scopes: Iterable[str]
) -> list[list[str]]:
    """The scopes in groups of those that are alike; first the group of the first."""
    by_name: dict[Hashable, list[str]] = {}
    for scope in scopes:
        by_name.setdefault(_described(graph, scope, members[scope]), []).append(scope)
    if len(by_name) == 1:
        return [*by_name.values()]
    groups: dict[Hashable, list[tuple[BlockGraph, list[str]]]] = {}  # by what such blocks share
    for same in by_name.values():
        block = BlockGraph(graph, same[0], members[same[0]])
        near = groups.setdefault(block.fingerprint, [])
        there = next((group for known, group in near if known.is_like(block)), None)
        if there is None:
            near.append((block, same))
        else:
            there.extend(same)
    return [group for near in groups.values() for _, group in near]


def _described(graph: Graph, scope: str, names: Sequence[str]) -> Hashable:
    """A block by the names inside it: nearly always those of blocks that are alike are the same."""
    start = len(scope) + 1
    outside: dict[str, int] = {}

    def known(name: str) -> Hashable:
        if name.startswith(scope) and name[len(scope) : start] == "/":
            return name[start:]
        return outside.setdefault(name, len(outside))

    return tuple(
        (
            name[start:],
            label_of(op := graph[name]),
            tuple(ref and (known(ref.op), ref.index) for ref in op.inputs),
            tuple(known(other) for other in op.control_inputs),
        )
        for name in names
    )
