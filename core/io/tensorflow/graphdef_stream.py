"""A binary GraphDef, parsed node by node, after all its nodes were weighed.

As one message it could take eighty times its bytes before anything could be said of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from gradstep.core.io.disk.memory_budget import Budget, in_words
from gradstep.core.io.message_weight import Place, fields, weigh
from gradstep.core.io.tensorflow.graphdef_proto import message, parse
from gradstep.core.io.tensorflow.graphdef_tensors import tensor_bytes

_NODE, _LIBRARY, _VERSIONS = 1, 2, 4  # fields of a GraphDef
_FEW = 1 << 16  # bytes of versions: thousands of readers that may not read it
_OPERATION, _ATTRIBUTE, _ITEM = 500, 200, 100  # bytes that these take, without their tensors


class GraphDefParts:
    """node: its NodeDefs, each parsed when it is come to; library: its functions; versions: a
    VersionDef, of which readers it is for."""

    def __init__(self, data: bytes, budget: Budget) -> None:
        """Raises GradstepError (FileError) for what is no GraphDef, and OverBudgetError."""
        self.library, self.versions = message("FunctionDefLibrary")(), message("VersionDef")()
        node = Nodes(data)
        for number, start, end in fields(data, (0, len(data)), "GraphDef"):
            if number == _NODE and start >= 0:
                budget.take(_OPERATION, "its nodes")
                node.add(start, end)
            elif number == _LIBRARY and start >= 0:
                weigh(data, (start, end), self.library.DESCRIPTOR, "its functions", budget)
                budget.take(end - start, "its functions")
                part = message("FunctionDefLibrary")()
                parse(part, data[start:end])
                self.library.MergeFrom(part)
            elif number == _VERSIONS and 0 <= start < end <= start + _FEW:
                parse(self.versions, data[start:end])
        self.node = node
        _weigh_nodes(data, node, budget)


class Nodes:
    """The nodes of a GraphDef, to be gone through again and again."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts, self._ends = array("q"), array("q")

    def add(self, start: int, end: int) -> None:
        """One more, which lies there."""
        self._starts.append(start)
        self._ends.append(end)

    @property
    def places(self) -> Iterator[Place]:
        return zip(self._starts, self._ends, strict=True)

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Any]:
        return map(self.at, self.places)

    def at(self, place: Place) -> Any:
        """One as a message. Raises GradstepError (FileError)."""
        node = message("NodeDef")()
        parse(node, self._data[slice(*place)])
        return node


def _weigh_nodes(data: bytes, nodes: Nodes, budget: Budget) -> None:
    """Take the memory of all nodes, before the first of them is made."""
    empty, whole, most, largest = message("NodeDef")(), 0, 0, ""
    for place in nodes.places:
        weigh(data, place, empty.DESCRIPTOR, "a node", budget)
        node = nodes.at(place)
        size = place[1] - place[0] + _ITEM * len(node.input)
        size += sum(_ATTRIBUTE + _weight(value) for value in node.attr.values())
        whole += size
        if size > most:
            most, largest = size, node.name[:80]
    budget.take(whole, f"its {len(nodes)} nodes, {in_words(most)} for '{largest}'")


def _weight(value: Any) -> int:
    """Bytes that an AttrValue takes, besides those of its own in the file."""
    kind = value.WhichOneof("value")
    if kind == "tensor":
        return _tensor_weight(value.tensor)
    if kind != "list":
        return 0
    items = value.list
    count = sum(len(held) for _, held in items.ListFields())
    return _ITEM * count + sum(map(_tensor_weight, items.tensor))


def _tensor_weight(proto: Any) -> int:
    return tensor_bytes(proto) + _ITEM * len(proto.string_val)
