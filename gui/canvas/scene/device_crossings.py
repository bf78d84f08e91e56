"""Which links lead from one device to another, and what they carry there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops.declare.placeable_ops import device_that_computes, placements
from gradstep.gui.look.device_text import device_words
from gradstep.gui.look.number_text import byte_size

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph


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


def find_crossings(visible: VisibleGraph) -> Mapping[int, Crossing]:
    """Number of a link that leads from one device to another -> what crosses. Nothing but a look at
    each operation where none is placed."""
    source = visible.source
    if source is None or not (placed := placements(source.graph)):
        return {}
    graph, types, found = source.graph, source.inference.types, dict[int, Crossing]()
    for number, link in enumerate(visible.links):
        ways: dict[tuple[str, str], set[TensorRef]] = {}
        for wire in link.wires:
            ref = graph.source(wire)
            if ref is not None:
                way = placed.get(ref.op, ""), placed.get(wire.op, "")
                if way[0] != way[1]:
                    ways.setdefault(way, set()).add(ref)
        if ways:
            sizes = [_bytes_of(types.get(ref)) for refs in ways.values() for ref in refs]
            known = [size for size in sizes if size is not None]
            found[number] = Crossing((*ways,), sum(known) if len(known) == len(sizes) else None)
    return found


def crossing_of(
    graph: Graph, types: Mapping[TensorRef, TensorType | None], wire: Edge
) -> Crossing | None:
    """Of one wire; None where it leads nowhere else."""
    ref, target = graph.source(wire), graph.operations.get(wire.op)
    source = None if ref is None else graph.operations.get(ref.op)
    if ref is None or source is None or target is None:
        return None
    way = device_that_computes(source), device_that_computes(target)
    return None if way[0] == way[1] else Crossing((way,), _bytes_of(types.get(ref)))


def _bytes_of(kind: TensorType | None) -> int | None:
    if kind is None or not kind.shape.is_static or kind.dtype.numpy.hasobject:
        return None
    count = 1
    for size in kind.shape.static():
        count *= size
    return count * kind.dtype.numpy.itemsize
