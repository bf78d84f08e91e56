"""Loops as the frames of a GraphDef: the inverse of gradstep.core.io.tensorflow.graphdef_loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.free_names import take_free_name
from gradstep.core.graph.loop import ACROSS, Loop, loop_of, within
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.io.tensorflow.graphdef_frames import ENTERS, EXITS, NEXTS, SWITCHES
from gradstep.core.ops.declare.attribute_kinds import attribute


def with_frames(graph: Graph) -> Graph:
    """`graph`, whose operations say their types, with nodes in place of every While. Its cycles are
    those of TensorFlow's loops. Raises GradstepError for what has no form there."""
    if not any(loop_of(op) for op in graph):
        return graph
    return Graph(_expanded(graph, {op.name.lower() for op in within(graph)}))


def _expanded(graph: Graph, taken: set[str]) -> dict[str, Operation]:
    frames: dict[str, _Frame] = {}
    named: set[str] = set()
    for op in graph:
        if (loop := loop_of(op)) is not None:
            frames[op.name] = _Frame(op, loop, graph, taken, named)
    made: dict[str, Operation] = {}
    for op in graph:
        if op.name in frames:
            nodes = frames[op.name].nodes(_outside(op, frames, taken))
            made.update({node.name: node for node in nodes})
        else:
            made[op.name] = _outside(op, frames, taken)
    for frame in frames.values():
        made.update({n: _outside(op, frames, taken) for n, op in frame.entering.items()})
        made.update(frame.exits)
    return made


def _outside(op: Operation, frames: Mapping[str, _Frame], taken: set[str]) -> Operation:
    """What stands around loops: it takes their last values from inside, or behind an Exit."""
    leaves = op.type in EXITS or ACROSS in op.attrs
    inputs = []
    for ref in op.inputs:
        frame = None if ref is None else frames.get(ref.op)
        if frame is None or ref is None:
            inputs.append(ref)
        else:
            inputs.append(frame.last(ref.index, op) if leaves else frame.exit(ref.index, op))
    waits = [name for other in op.control_inputs for name in _waited(other, frames, op)]
    attrs = {key: value for key, value in op.attrs.items() if key != ACROSS}
    waits += _across(op, taken)
    return replace(op, inputs=tuple(inputs), control_inputs=tuple(waits), attrs=attrs)


def _across(op: Operation, taken: set[str]) -> tuple[str, ...]:
    """What it waits for on the other side of a loop's border, as far as that is still there."""
    return tuple(name for name in op.attrs.get(ACROSS, ()) if name.lower() in taken)


def _waited(name: str, frames: Mapping[str, _Frame], op: Operation) -> list[str]:
    return [frames[name].exit(0, op).op] if name in frames else [name]


@dataclass(eq=False)
class _Frame:
    """The nodes of one While. taken: names of operations; named: frames beside it."""

    op: Operation
    loop: Loop
    graph: Graph
    taken: set[str]
    named: set[str]
    entering: dict[str, Operation] = field(default_factory=dict)
    exits: dict[str, Operation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        starts = self.op.inputs[: len(self.loop.variables)]
        self.scope = self.op.scope or self.op.name
        self.name = take_free_name(self._frame_name(starts), self.named)
        self.parallel = attribute(self.op, "parallel_iterations", int, 10)
        self.starts = [self._entered(i, ref) for i, ref in enumerate(starts)]
        self.added: dict[str, Operation] = {}  # inside
        self.cond = self._flag()
        self.switches = [self._switch(i, name) for i, name in enumerate(self.loop.variables)]
        self.results = [self._next(i, ref) for i, ref in enumerate(self.loop.results)]

    def _frame_name(self, starts: Iterable[TensorRef | None]) -> str:
        """The one that its Enters have."""
        enters = (self.graph[ref.op] for ref in starts if ref is not None)
        names = (op.attrs.get("frame_name") for op in enters if op.type in ENTERS)
        return str(next(filter(None, names), f"{self.scope}/while_context"))

    def last(self, index: int, op: Operation) -> TensorRef:
        """The last value of a loop variable, inside of the frame."""
        if index >= len(self.switches):
            raise GradstepError(
                f"'{op.name}' reads what loop '{self.op.name}' left for its gradient, which has no "
                "form in a GraphDef",
                kind="UnimplementedError",
                node=op.name,
                hint="export the forward graph: TensorFlow derives the gradient again",
            )
        return TensorRef(self.switches[index], 0)

    def exit(self, index: int, op: Operation) -> TensorRef:
        """The same behind an Exit, which is made where there is none."""
        inner = self.last(index, op)
        for other in self.graph:
            if other.type in EXITS and other.inputs == (TensorRef(self.op.name, index),):
                return other.output()
        for made in self.exits.values():
            if made.inputs == (inner,):
                return made.output()
        made = Operation(self._free("Exit"), "Exit", (inner,), attrs={"T": self._dtype(index)})
        self.exits[made.name] = made
        return made.output()

    def nodes(self, op: Operation) -> Iterator[Operation]:
        """What is in the frame, and the Enters of what stays the same; `op` takes what other loops
        leave from behind their Exits."""
        loop, count = self.loop, len(self.loop.variables)
        merges = dict(zip(loop.variables, range(count), strict=True))
        inputs = dict(zip(loop.captures, op.inputs[count:], strict=True))
        self._wait(op)
        for node in _expanded(loop.graph, self.taken).values():
            if node.name in merges:
                yield self._merge(node, merges[node.name])
            elif node.name in inputs:
                yield self._enter(node, inputs[node.name])
            else:
                yield node
        yield from self.added.values()

    def _merge(self, op: Operation, index: int) -> Operation:
        attrs = {"T": attribute(op, "T", DType), "N": 2, **_kept(op)}
        inputs = self.starts[index], self.results[index]
        return Operation(op.name, "Merge", inputs, (), attrs, op.device)

    def _wait(self, op: Operation) -> None:
        """What the loop waits for, and no Enter of what stays the same, its variables wait for."""
        theirs = {name for capture in self.loop.captures for name in self._waits(capture)}
        rest = tuple(name for name in op.control_inputs if name not in theirs)
        for name, enter in self.entering.items():
            waits = tuple(dict.fromkeys((*enter.control_inputs, *rest)))
            self.entering[name] = replace(enter, control_inputs=waits)

    def _enter(self, op: Operation, ref: TensorRef | None) -> Operation:
        """The Enter of what stays the same."""
        attrs = {**self._frame_attrs(attribute(op, "T", DType), True), **_kept(op)}
        kind = "RefEnter" if op.attrs.get("ref") else "Enter"
        return Operation(op.name, kind, (ref,), self._waits(op.name), attrs, op.device)

    def _waits(self, name: str) -> tuple[str, ...]:
        return _across(self.loop.graph[name], self.taken)

    def _frame_attrs(self, dtype: Any, constant: bool) -> dict[str, Any]:
        return {
            "T": dtype,
            "frame_name": self.name,
            "is_constant": constant,
            "parallel_iterations": self.parallel,
        }

    def _entered(self, index: int, ref: TensorRef | None) -> TensorRef:
        """What a loop variable begins with, behind an Enter into this frame."""
        attrs = self._frame_attrs(self._dtype(index), False)
        start = None if ref is None else self.graph[ref.op]
        if start is not None and start.type in ENTERS:
            if self.graph.consumers[start.name] == (Edge(self.op.name, index),):
                attrs = {**attrs, **start.attrs, "frame_name": self.name}
                self.entering[start.name] = replace(start, attrs=attrs)
                return start.output()
            ref = start.inputs[0] if start.inputs else None
        made = Operation(self._free("Enter"), "Enter", (ref,), (), attrs)
        self.entering[made.name] = made
        return made.output()

    def _dtype(self, index: int) -> Any:
        return attribute(self.loop.graph[self.loop.variables[index]], "T", DType)

    def _flag(self) -> TensorRef:
        cond = self.loop.cond
        if self.loop.graph[cond.op].type == "LoopCond":
            return cond
        return self._inside("LoopCond", (cond,), {}).output()

    def _switch(self, index: int, variable: str) -> str:
        wanted = TensorRef(variable), self.cond
        for op in self.loop.graph:
            if op.type in SWITCHES and op.inputs == wanted:
                return op.name
        return self._inside("Switch", wanted, {"T": self._dtype(index)}).name

    def _next(self, index: int, ref: TensorRef) -> TensorRef:
        if self.loop.graph[ref.op].type in NEXTS:
            return ref
        return self._inside("NextIteration", (ref,), {"T": self._dtype(index)}).output()

    def _inside(
        self, kind: str, inputs: tuple[TensorRef, ...], attrs: Mapping[str, Any]
    ) -> Operation:
        made = Operation(self._free(kind), kind, inputs, (), attrs)
        self.added[made.name] = made
        return made

    def _free(self, kind: str) -> str:
        return take_free_name(f"{self.scope}/{kind}", self.taken)


def _kept(op: Operation) -> dict[str, Any]:
    """The attributes of an `_Arg` that its node has, too."""
    return {k: v for k, v in op.attrs.items() if k not in ("T", "shape", "ref", ACROSS)}
