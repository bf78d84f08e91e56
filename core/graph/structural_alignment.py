"""Which operations of one graph are those of another under other names, by what is around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from gradstep.core.graph.model import Graph, Operation


def find_renames(before: Graph, after: Graph) -> dict[str, str]:
    """Operation of `before` that is not in `after` -> the one there that has its type, attributes,
    and place among inputs and readers, where there is but one on either side."""
    common = {name for name in before.operations if name in after.operations}
    old, new = _by_place(before, common), _by_place(after, common)
    return {old[place]: new[place] for place in old if place in new}


def _by_place(graph: Graph, common: Iterable[str]) -> dict[bytes, str]:
    """What is around each operation that is not common -> the operation; of those that are alike,
    none."""
    anchors = frozenset(common)
    inputs = _below(graph, anchors)
    places = _above(graph, anchors, inputs)
    count = Counter(places[name] for name in graph.operations if name not in anchors)
    return {places[n]: n for n in graph.operations if n not in anchors and count[places[n]] == 1}


def _below(graph: Graph, anchors: frozenset[str]) -> Mapping[str, bytes]:
    """Of each operation: its type, its attributes, and the same of all that it reads."""
    found: dict[str, bytes] = {}
    for name in graph.order:
        op = graph[name]
        read = [b"-" if r is None else found.get(r.op, b"?") + b"%d" % r.index for r in op.inputs]
        waits = sorted(found.get(each, b"?") for each in op.control_inputs)
        own = [_own(op), *([name.encode()] if name in anchors else [*read, b"^", *waits])]
        found[name] = _digest(own)
    return found


def _above(
    graph: Graph, anchors: frozenset[str], below: Mapping[str, bytes]
) -> Mapping[str, bytes]:
    """The same, with all that reads it."""
    readers: dict[str, list[bytes]] = {}
    found: dict[str, bytes] = {}
    for name in reversed(graph.order):
        around = [] if name in anchors else sorted(readers.get(name, ()))
        found[name] = _digest([below[name], *around])
        for number, ref in enumerate(graph[name].inputs):
            if ref is not None:
                readers.setdefault(ref.op, []).append(found[name] + b"%d:%d" % (number, ref.index))
    return found


def _own(op: Operation) -> bytes:
    return repr((op.type, sorted((key, repr(value)) for key, value in op.attrs.items()))).encode()


def _digest(parts: Iterable[bytes]) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()
