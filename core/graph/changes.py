"""What an edit changed, so that views repaint no more than that."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.model import Graph


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
