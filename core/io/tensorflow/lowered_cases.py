"""Cases that TensorFlow lowered itself: its switches of many ways as Switches one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.free_names import collect_names, take_free_name
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef

SWITCH_N = "_SwitchN"


def with_plain_switches(graph: Graph) -> Graph:
    """`graph` with Switches in the place of each _SwitchN: whether it is another way than the
    first, if so whether it is another than the second, and so on; the last way is for all other
    numbers, too. What comes out of more than two ways is merged in the opposite order, so that each
    Merge has its Switch.
    """
    if not graph.by_type.get(SWITCH_N):
        return graph
    return _Plain(graph).graph()


class _Plain:
    def __init__(self, graph: Graph) -> None:
        self._graph, self._taken = graph, collect_names(graph)
        self._most: dict[str, int] = {}  # number of the last output that somebody reads
        for ref in (ref for op in graph for ref in op.inputs if ref is not None):
            self._most[ref.op] = max(ref.index, self._most.get(ref.op, 0))
        self._other: dict[tuple[TensorRef, int], TensorRef] = {}
        self._moved: dict[TensorRef, TensorRef] = {}
        self._waited: dict[str, str] = {}

    def graph(self) -> Graph:
        made = [new for op in self._graph for new in self._parts(op)]
        return Graph.of(self._rewired(op) for op in made)

    def _parts(self, op: Operation) -> Iterator[Operation]:
        ways = op.attrs.get("num_outs")
        if op.type == SWITCH_N and len(op.inputs) == 2 and isinstance(ways, int) and ways > 1:
            yield from self._switches(op, min(ways, self._most.get(op.name, 0) + 2))
        elif op.type == "Merge" and len(op.inputs) > 2 and not self._most.get(op.name):
            yield from self._merges(op)
        else:
            yield op

    def _switches(self, op: Operation, ways: int) -> Iterator[Operation]:
        data, index = (ref for ref in op.inputs if ref is not None)
        attrs = {"T": op.attrs["T"]} if "T" in op.attrs else {}
        for way in range(ways - 1):
            if (index, way) not in self._other:
                yield from self._compare(op, index, way)
            name = take_free_name(f"{op.name}/Switch", self._taken)
            inputs = (data, self._other[index, way])
            yield replace(op, name=name, type="Switch", inputs=inputs, attrs=attrs)
            self._waited.setdefault(op.name, name)
            self._moved[op.output(way)] = TensorRef(name, 0)
            data = TensorRef(name, 1)
        self._moved[op.output(ways - 1)] = data

    def _compare(self, op: Operation, index: TensorRef, way: int) -> Iterator[Operation]:
        """Whether the number is not that of a way; what it is compared with waits for it, as it may
        be in a loop."""
        value = Constant(np.array(way, np.int32))
        way_name, other_name = (
            take_free_name(f"{op.name}/{part}", self._taken) for part in ("way", "NotEqual")
        )
        one = Operation(
            way_name, "Const", control_inputs=(index.op,), device=op.device,
            attrs={"value": value, "dtype": DType.INT32},
        )  # fmt: skip
        other = Operation(
            other_name, "NotEqual", (index, one.output()), device=op.device,
            attrs={"T": DType.INT32},
        )  # fmt: skip
        self._other[index, way] = other.output()
        yield from (one, other)

    def _merges(self, op: Operation) -> Iterator[Operation]:
        *ways, last = op.inputs
        for number, way in reversed([*enumerate(ways)]):
            name = take_free_name(f"{op.name}/Merge", self._taken) if number else op.name
            yield replace(op, name=name, inputs=(way, last), attrs={**op.attrs, "N": 2})
            last = TensorRef(name)

    def _rewired(self, op: Operation) -> Operation:
        inputs = tuple(ref if ref is None else self._end(ref) for ref in op.inputs)
        waits = tuple(dict.fromkeys(self._ends(op.control_inputs)))
        return replace(op, inputs=inputs, control_inputs=waits)

    def _end(self, ref: TensorRef) -> TensorRef:
        while ref in self._moved:
            ref = self._moved[ref]
        return ref

    def _ends(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            first = self._waited.get(name)
            yield name if first is None else first
