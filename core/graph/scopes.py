"""Name scopes: the tree that `/` in operation names spells."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.graph.model import Graph


def parents(name: str) -> Iterator[str]:
    """Scopes that enclose `name`, outermost first: "a/b/c" gives "a", "a/b"."""
    parts = name.split("/")
    for end in range(1, len(parts)):
        yield "/".join(parts[:end])


def children(graph: Graph, scope: str = "") -> tuple[list[str], list[str]]:
    """Scopes and operations directly inside `scope` ("" is the top), in order of creation.

    An operation that shares its name with a scope (`c` and `c/Adam`) appears in both lists.
    """
    prefix = f"{scope}/" if scope else ""
    scopes: dict[str, None] = {}
    operations: list[str] = []
    for op in graph:
        if not op.name.startswith(prefix):
            continue
        head, slash, _ = op.name[len(prefix) :].partition("/")
        if slash:
            scopes[prefix + head] = None
        else:
            operations.append(op.name)
    return list(scopes), operations


def move_name(name: str, old: str, new: str) -> str:
    """The name of an operation or scope once scope `old`, which it may be in, is called `new`."""
    return new + name[len(old) :] if is_inside(name, old) else name


def is_inside(name: str, scope: str) -> bool:
    """Whether `name` lies in `scope`, at any depth."""
    return name.startswith(scope.rstrip("/") + "/")
