"""The order in which TensorFlow's backward pass visits operations."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence, Set

from gradstep.core.graph.model import Graph, TensorRef


def rank_operations(graph: Graph, of: Sequence[TensorRef], between: Set[str]) -> dict[str, int]:
    """Rank of each operation of `between`, the operations that lie on a way back.

    An operation's turn comes when all that use it had theirs, first come first served. Debugging
    goes another way (the reverse of the forward order), but what is added up where several ways
    meet, and rows that follow one another, are in TensorFlow's order, to the last bit.
    """
    waiting = Counter(
        ref.op for name in between for ref in graph[name].inputs if ref and ref.op in between
    )
    queue = deque(dict.fromkeys(r.op for r in of if r.op in between and not waiting[r.op]))
    rank: dict[str, int] = {}
    while queue:
        name = queue.popleft()
        rank[name] = len(rank)
        for ref in graph[name].inputs:
            if ref is not None and ref.op in between:
                waiting[ref.op] -= 1
                if not waiting[ref.op]:
                    queue.append(ref.op)
    return rank
