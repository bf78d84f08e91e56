"""A binary GraphDef, parsed node by node, after all its nodes were weighed.

As one message it could take eighty times its bytes before anything could be said of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget, in_words
from gradstep.core.io.tensorflow.graphdef_proto import message, parse
from gradstep.core.io.tensorflow.graphdef_tensors import tensor_bytes

_NODE, _LIBRARY = 1, 2  # fields of a GraphDef
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types of protocol buffers
_LARGE = 2 << 20  # bytes of a message of which the parts are counted before it is parsed
_MOST_PARTS = 1_000_000  # of one node, or of all functions
_PART = 80  # bytes that a part of a message takes at most, which may be empty
_VALUE = 8  # bytes that a packed value may take for one byte of the file
_OPERATION, _ATTRIBUTE, _ITEM = 500, 200, 100  # bytes that these take, without their tensors

Place = tuple[int, int]  # where bytes begin and end


class GraphDefParts:
    """node: its NodeDefs, each parsed when it is come to; library: its functions."""

    def __init__(self, data: bytes, budget: Budget) -> None:
        """Raises GradstepError (FileError) for what is no GraphDef, and OverBudgetError."""
        self.library = message("FunctionDefLibrary")()
        node = Nodes(data)
        for number, start, end in _fields(data, (0, len(data))):
            if number == _NODE and start >= 0:
                budget.take(_OPERATION, "its nodes")
                node.add(start, end)
            elif number == _LIBRARY and start >= 0:
                _weigh(data, (start, end), self.library, "its functions", budget)
                budget.take(end - start, "its functions")
                part = message("FunctionDefLibrary")()
                parse(part, data[start:end])
                self.library.MergeFrom(part)
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
        _weigh(data, place, empty, "a node", budget)
        node = nodes.at(place)
        size = place[1] - place[0] + _ITEM * len(node.input)
        size += sum(_ATTRIBUTE + _weight(value) for value in node.attr.values())
        whole += size
        if size > most:
            most, largest = size, node.name[:80]
    budget.take(whole, f"its {len(nodes)} nodes, {in_words(most)} for '{largest}'")


def _weigh(data: bytes, place: Place, kind: Any, what: str, budget: Budget) -> None:
    """Make sure that a large message of `kind` may be parsed; it is let go of again."""
    if place[1] - place[0] > _LARGE:
        rest = Budget(budget.limit - budget.taken)
        rest.take(place[1] - place[0], what)
        for count, size in enumerate(_sizes(data, place, kind.DESCRIPTOR)):
            rest.take(size, f"the parts of {what}")
            if count > _MOST_PARTS:
                raise GradstepError(
                    f"{what} has more than {_MOST_PARTS:,} parts, as none that a program makes has",
                    kind="FileError",
                    hint="the file is damaged, or made to take memory",
                )


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


def _sizes(data: bytes, place: Place, descriptor: Any) -> Iterator[int]:
    """What the parts of a message take in memory, those of nested messages included."""
    kinds = descriptor.fields_by_number
    for number, start, end in _fields(data, place):
        field = kinds.get(number)
        yield _PART
        if field is None or start < 0:
            continue
        if field.message_type is not None:
            yield from _sizes(data, (start, end), field.message_type)
        elif field.cpp_type != field.CPPTYPE_STRING:
            yield _VALUE * (end - start)


def _fields(data: bytes, place: Place) -> Iterator[tuple[int, int, int]]:
    """The fields of a message: number, and where the bytes of one that has a length begin and end,
    -1 for others. Raises GradstepError (FileError)."""
    at, end = place
    while at < end:
        tag, at = _varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        start = stop = -1
        if wire == _BYTES:
            size, start = _varint(data, at, end)
            at = stop = start + size
        elif wire == _VARINT:
            _, at = _varint(data, at, end)
        elif wire in (_FIXED32, _FIXED64):
            at += 4 if wire == _FIXED32 else 8
        else:
            raise _cut_off(data)  # groups, which GraphDefs never had
        if at > end or not number:
            raise _cut_off(data)
        yield number, start, stop


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise _cut_off(data)


def _cut_off(data: bytes) -> GradstepError:
    return GradstepError(
        f"{len(data)} bytes are cut off, or not a GraphDef",
        kind="FileError",
        hint="use another copy of the file",
    )
