"""Feeds that cut every path from one tensor to another."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from gradstep.core.graph.model import Graph, TensorRef


def find_cutting_feeds(
    graph: Graph, of: TensorRef, wrt: TensorRef, fed: Collection[TensorRef]
) -> tuple[TensorRef, ...]:
    """The fed tensors that keep `of` from following `wrt`, those nearest to `of`; none where some
    way is left, or there is none anyway."""
    met: dict[TensorRef, None] = {}
    seen, queue = {of}, deque([of])
    while queue:
        ref = queue.popleft()
        if ref == wrt:
            return ()
        if ref in fed:
            met[ref] = None
            continue
        for source in graph[ref.op].inputs:
            if source is not None and source not in seen:
                seen.add(source)
                queue.append(source)
    return tuple(ref for ref in met if wrt.op in graph.ancestors([ref.op]))
