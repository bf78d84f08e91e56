"""The difference between two graphs: what an edit changed, so that no more is done anew."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.graph.model import Graph, Operation


@dataclass(frozen=True, slots=True)
class Changes:
    """Operation names. `changed`: there before and after, and not the same."""

    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def diff(before: Graph, after: Graph) -> Changes:
    """The difference between two graphs; cheap where they share their operations."""
    old, new = before.operations, after.operations
    common = old.keys() & new.keys()
    return Changes(
        added=frozenset(new.keys() - old.keys()),
        removed=frozenset(old.keys() - new.keys()),
        changed=frozenset(n for n in common if old[n] is not new[n] and old[n] != new[n]),
    )


def alike(a: Operation, b: Operation) -> bool:
    """Whether nobody can tell the two apart; 1, 1.0 and True are equal, but another attribute."""
    if a is b:
        return True
    return a == b and all(repr(value) == repr(b.attrs[key]) for key, value in a.attrs.items())


def share_operations(graph: Graph, before: Graph) -> Graph:
    """`graph`, with the operations of `before` where they are alike; `before` where all are."""
    old = before.operations
    operations = {
        name: old[name] if name in old and alike(op, old[name]) else op
        for name, op in graph.operations.items()
    }
    same = list(operations) == list(old) and all(op is old[name] for name, op in operations.items())
    return before if same else Graph(operations)
