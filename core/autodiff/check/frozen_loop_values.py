"""Tensors stopped inside loops, kept in each iteration at the value they had at the point.

Beside such a loop a copy of it runs on what nobody nudges. What is stopped is read from the copy's
trace by the number of the iteration, which goes round as one more loop variable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, UNKNOWN, DType, Shape
from gradstep.core.graph.edits import duplicate
from gradstep.core.graph.loop import LOOP, Loop, loop_of, loops_around, within
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import infer_declared

Point = Mapping[TensorRef, np.ndarray]


@dataclass(frozen=True)
class LoopStops:
    """Tensors inside loops that are stopped, wires in there that are, and the loops, the outer
    ones as well, by the names of the operations that run them."""

    tensors: frozenset[TensorRef]
    edges: frozenset[Edge]
    loops: frozenset[str]


def find_stops_in_loops(
    graph: Graph, request: GradientRequest, needed: Collection[str]
) -> LoopStops:
    """Those in the loops among the operations `needed`."""
    inside = {op.name: op for op in within(graph[n] for n in needed) if op.name not in graph}
    stopping = (op.output() for op in inside.values() if op.type == "StopGradient")
    tensors = {*stopping, *(ref for ref in request.stops if ref.op in inside)}
    edges = {edge for edge in request.stopped_edges if edge.op in inside}
    names = {ref.op for ref in tensors} | {edge.op for edge in edges}
    loops = {loop for name in names for loop in loops_around(graph, name)}
    return LoopStops(frozenset(tensors), frozenset(edges), frozenset(loops))


def freeze_in_loops(
    graph: Graph, stops: LoopStops, moved: Collection[TensorRef], feeds: Point
) -> tuple[Graph, dict[TensorRef, np.ndarray]]:
    """`graph` and feeds in which `stops` no longer follow the tensors that are `moved`. Raises
    GradstepError where a copy of a loop would do more than compute."""
    starts = {ref.op for ref in moved}
    loops = _led_to(graph, starts) & stops.loops
    if not loops:
        return graph, dict(feeds)
    needed = graph.ancestors(loops)
    names = _led_to(graph, starts | {*filter(partial(_is_of_run, graph), needed)}) & needed
    _require_pure(graph, names)
    doubled, copies = duplicate(graph, names)
    own = Graph.of(_apart(op) if op.name in copies.values() else op for op in doubled)
    held = _Holding(stops, copies).in_graph(own)
    more = {TensorRef(copies[r.op], r.index): x for r, x in feeds.items() if r.op in copies}
    return held, {**feeds, **more}


def _led_to(graph: Graph, starts: Collection[str]) -> set[str]:
    found = {*starts}
    for name in graph.order:
        if any(ref is not None and ref.op in found for ref in graph[name].inputs):
            found.add(name)
    return found


def _is_of_run(graph: Graph, name: str) -> bool:
    """Whether it works on a TensorArray or stack: the copy has others."""
    definition = find(graph[name].type)
    return definition is not None and definition.state.per_run is not None


def _require_pure(graph: Graph, names: Collection[str]) -> None:
    for op in within(graph[name] for name in names):
        definition = find(op.type)
        if definition is not None and definition.state.writes:
            raise GradstepError(
                f"the gradient is stopped inside a loop that depends on '{op.name}', which changes "
                "a variable: what is stopped cannot be held still",
                kind="UnimplementedError",
                node=op.name,
                hint="check the gradient without the stop, or update the variable after the loop",
            )


def _apart(op: Operation) -> Operation:
    """A variable with a value of its own."""
    shares = op.type in VARIABLES and op.attrs.get("shared_name")
    return op.with_attrs(shared_name=op.name) if shares else op


@dataclass(frozen=True)
class _Holding:
    """Puts what the copies had in place of what is stopped. copies: operation -> its copy."""

    stops: LoopStops
    copies: Mapping[str, str]

    def in_graph(self, graph: Graph) -> Graph:
        """Outside all loops."""
        made: list[Operation] = []
        instead: dict[TensorRef, TensorRef] = {}
        for op in graph:
            if op.name in self.copies and op.name in self.stops.loops:
                loop = loop_of(op)
                assert loop is not None
                trace = TensorRef(self.copies[op.name], len(loop.variables))
                op = self._playing(op, loop, trace, made, instead)
            made.append(op)
        return Graph.of(_reading(op, instead) for op in made)

    def _playing(
        self,
        op: Operation,
        loop: Loop,
        trace: TensorRef,
        made: list[Operation],
        instead: dict[TensorRef, TensorRef],
    ) -> Operation:
        """The loop, counting its iterations, and reading `trace`. made: what that takes around it;
        instead: gets where its own trace is now."""
        count = len(loop.variables)
        zero = _number(f"held/{op.name}/zero", 0)
        made.append(zero)
        instead[op.output(count)] = op.output(count + 1)
        inputs = (*op.inputs[:count], zero.output(), *op.inputs[count:], trace)
        return replace(op.with_attrs(**{LOOP: self._inside(loop, op.name)}), inputs=inputs)

    def _inside(self, loop: Loop, name: str) -> Loop:
        number = _argument(f"held/{name}/number", DType.INT32, SCALAR)
        trace = _argument(f"held/{name}/trace", DType.VARIANT, UNKNOWN)
        one = _number(f"held/{name}/one", 1)
        after = Operation(f"held/{name}/next", "AddV2", (number.output(), one.output()))
        made: list[Operation] = [number, trace, one, after]
        kept = _Kept(loop, self.copies, trace.output(), number.output())
        held = {ref: kept.read(ref) for ref in self.stops.tensors if ref.op in loop.graph}
        instead = {ref: read.output() for ref, read in held.items()}
        wires = {edge: kept.wire(edge) for edge in self.stops.edges if edge.op in loop.graph}
        for op in loop.graph:
            op, inner = _rewired(op, wires), loop_of(op)
            if inner is not None and op.name in self.stops.loops:
                source = kept.trace_of(op, len(inner.variables))
                made.append(source)
                op = self._playing(op, inner, source.output(), made, instead)
            made.append(op)
        graph = [_reading(op, instead) for op in made]
        results = (*(instead.get(ref, ref) for ref in loop.results), after.output())
        return Loop(
            Graph.of([*graph, *held.values(), *wires.values()]),
            (*loop.variables, number.name),
            (*loop.captures, trace.name),
            loop.cond,
            results,
        )


@dataclass(frozen=True)
class _Kept:
    """Reads what tensors of `loop` were in the same iteration of its copy."""

    loop: Loop
    copies: Mapping[str, str]
    trace: TensorRef
    number: TensorRef

    def read(self, ref: TensorRef, name: str = "") -> Operation:
        """Dead where `ref` is."""
        return self._read(ref, name or f"held/{ref.op}/{ref.index}", (ref.op,))

    def trace_of(self, op: Operation, output: int) -> Operation:
        """Of the loop inside that `op` runs; dead where what it takes is."""
        waits = (*(ref.op for ref in op.inputs if ref is not None), *op.control_inputs)
        return self._read(op.output(output), f"held/{op.name}/kept", waits)

    def wire(self, edge: Edge) -> Operation:
        """What the wire carries."""
        source = self.loop.graph.source(edge)
        assert source is not None
        return self.read(source, f"held/{edge.op}/wire_{edge.index}")

    def _read(self, ref: TensorRef, name: str, waits: Collection[str]) -> Operation:
        kind = infer_declared(self.loop.graph).types[ref]
        kept = str(TensorRef(self.copies[ref.op], ref.index))
        return Operation(
            name,
            "IterationValue",
            (self.trace, self.number),
            tuple(name for name in dict.fromkeys(waits) if name not in self.loop.arguments),
            {"tensor": kept, "dtype": kind.dtype, "shape": kind.shape},
        )


def _reading(op: Operation, instead: Mapping[TensorRef, TensorRef]) -> Operation:
    return replace(op, inputs=tuple(ref and instead.get(ref, ref) for ref in op.inputs))


def _rewired(op: Operation, wires: Mapping[Edge, Operation]) -> Operation:
    found = (wires.get(Edge(op.name, index)) for index in range(len(op.inputs)))
    pairs = zip(op.inputs, found, strict=True)
    return replace(op, inputs=tuple(wire.output() if wire else ref for ref, wire in pairs))


def _argument(name: str, dtype: DType, shape: Shape) -> Operation:
    return Operation(name, "_Arg", attrs={"T": dtype, "shape": shape, "ref": False})


def _number(name: str, value: int) -> Operation:
    attrs = {"value": Constant(np.array(value, np.int32)), "dtype": DType.INT32}
    return Operation(name, "Const", attrs=attrs)
