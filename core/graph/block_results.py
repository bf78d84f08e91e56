"""What leaves equal blocks: of each the one tensor that stands for its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gradstep.core.graph.model import Graph, TensorRef


def block_results(graph: Graph, blocks: Mapping[str, Sequence[str]]) -> dict[str, TensorRef]:
    """Block -> the tensor that is read outside of it, the same one in all blocks: that which is
    read of most of them, of several the last. Of what nobody reads, the first output of what was
    made last. blocks: scope -> its operations, none of them empty; they are called alike."""
    read: Counter[tuple[str, int]] = Counter()
    for scope, names in blocks.items():
        read.update(_leaving(graph, scope, names))
    scope, names = next(iter(blocks.items()), ("", ("",)))
    places = {name[len(scope) + 1 :]: place for place, name in enumerate(names)}
    last = (names[-1][len(scope) + 1 :], 0)
    name, index = max(read, key=lambda end: (read[end], places.get(end[0], -1)), default=last)
    return {scope: TensorRef(f"{scope}/{name}", index) for scope in blocks}


def _leaving(graph: Graph, scope: str, names: Sequence[str]) -> set[tuple[str, int]]:
    """Name inside the block and number of each output that is read outside."""
    inside, found = {*names}, set()
    for name in names:
        for edge in graph.consumers[name]:
            ref = graph.source(edge)
            if ref is not None and edge.op not in inside:
                found.add((name[len(scope) + 1 :], ref.index))
    return found
