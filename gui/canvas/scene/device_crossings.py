"""Which links lead from one device to another, and what they carry there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops.declare.placeable_ops import device_that_computes
from gradstep.gui.look.device_text import device_words
from gradstep.gui.model.number_text import byte_size

Types = Mapping[TensorRef, TensorType | None]


class Crossing(NamedTuple):
    """ways: from which device to which, "" for that of the run; size: bytes that cross, of each
    value once; None where they are not known before a run."""

    ways: tuple[tuple[str, str], ...]
    size: int | None

    @property
    def badge(self) -> str:
        """For the link itself."""
        return "…" if self.size is None else byte_size(self.size)

    def words(self, run: str) -> str:
        """For people: "CPU → tf-gpu (emulated), 8 B". run: the device of the run."""
        ways = "; ".join(
            f"{device_words(a or run)} → {device_words(b or run)}" for a, b in self.ways
        )
        return ways if self.size is None else f"{ways}, {byte_size(self.size)}"


def find_crossings(
    graph: Graph, types: Types, placed: Mapping[str, str], link_of: Mapping[Edge, int]
) -> dict[int, Crossing]:
    """Number of a link that leads from one device to another -> what crosses. placed: operation ->
    the device that computes it, of those on another than that of the run; only the wires of those
    are looked at. link_of: wire -> the number of the link that stands for it."""
    carried: dict[int, dict[tuple[str, str], dict[TensorRef, None]]] = {}
    for wire, ref in _leading_elsewhere(graph, placed):
        number, way = link_of.get(wire), (placed.get(ref.op, ""), placed.get(wire.op, ""))
        if number is not None:
            carried.setdefault(number, {}).setdefault(way, {})[ref] = None
    return {number: _crossing(ways, types) for number, ways in carried.items()}


def _leading_elsewhere(graph: Graph, placed: Mapping[str, str]) -> Iterator[tuple[Edge, TensorRef]]:
    """The wires, and what they carry: first those into a placed operation, then those out of it to
    what is not placed."""
    for name, device in placed.items():
        op = graph.operations.get(name)
        if op is None:
            continue
        for index, ref in enumerate(op.inputs):
            if ref is not None and placed.get(ref.op) != device:
                yield Edge(name, index), ref
        for wire in graph.consumers[name]:
            if wire.op not in placed and (ref := graph.source(wire)) is not None:
                yield wire, ref


def crossing_of(graph: Graph, types: Types, wire: Edge) -> Crossing | None:
    """Of one wire; None where it leads nowhere else."""
    ref, target = graph.source(wire), graph.operations.get(wire.op)
    source = None if ref is None else graph.operations.get(ref.op)
    if ref is None or source is None or target is None:
        return None
    way = device_that_computes(source), device_that_computes(target)
    return None if way[0] == way[1] else _crossing({way: (ref,)}, types)


def _crossing(ways: Mapping[tuple[str, str], Iterable[TensorRef]], types: Types) -> Crossing:
    sizes = [_bytes_of(types.get(ref)) for refs in ways.values() for ref in refs]
    known = [size for size in sizes if size is not None]
    return Crossing((*ways,), sum(known) if len(known) == len(sizes) else None)


def _bytes_of(kind: TensorType | None) -> int | None:
    if kind is None or not kind.shape.is_static or kind.dtype.numpy.hasobject:
        return None
    count = 1
    for size in kind.shape.static():
        count *= size
    return count * kind.dtype.numpy.itemsize
