"""Frames of a GraphDef as loops: one While for each, with what is inside as its graph.

Inside the graph of an iteration, an `_Arg` stands for the Merge of a loop variable and for the
Enter of what stays the same. Enters of loop variables, Exits, and what TensorFlow puts between a
loop's last values and their Exits stand outside, around the While.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.free_names import take_free_name
from gradstep.core.graph.loop import ACROSS, LOOP, Loop, require_sound
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.io.tensorflow.graphdef_frame_parts import FramePart, parallel_iterations, part_of
from gradstep.core.io.tensorflow.graphdef_frames import (
    ENTERS,
    EXITS,
    NEXTS,
    Frames,
    Path,
    frames_of,
    malformed_loop,
    takes,
)

# Attributes of nodes that the loop itself says.
_SAID = frozenset({"T", "N", "frame_name", "is_constant", "parallel_iterations"})


def with_loops(graph: Graph) -> Graph:
    """`graph` with a While for each frame. Raises GradstepError, at the operation, for a frame
    that is no loop of TensorFlow's."""
    if not any(op.type in ENTERS or op.type in NEXTS or op.type in EXITS for op in graph):
        return graph
    return _Loops(frames_of(graph)).graph(())


class _Loops:
    """The operations of a GraphDef, sorted into the graphs that they become parts of."""

    def __init__(self, frames: Frames) -> None:
        self.parts = {path: part_of(frames, path) for path in frames.paths}
        taken = {op.name.lower() for op in frames.graph}
        self.names = {path: take_free_name(_scope(path[-1]), taken) for path in self.parts}
        # Of each frame, in order: what stands in it, and the frames in it.
        self.content: dict[Path, list[Operation | Path]] = {(): []}
        captured = {op.name: path for path, part in self.parts.items() for op in part.captures}
        for op in frames.graph:
            self._sort(op, frames.around[op.name], captured.get(op.name))

    def graph(self, path: Path) -> Graph:
        """What stands in a frame."""
        there = self.content.get(path, ())
        return Graph.of(self._while(x) if isinstance(x, tuple) else x for x in there)

    def _sort(self, op: Operation, around: Path, captured: Path | None) -> None:
        own = self.parts.get(around)
        if captured is not None:
            self._put(captured, _argument(op, self.parts[captured]))
        elif own is not None and op.name in own.leaving:
            self._put(around[:-1], _outside(op, own, self.names[around]))
        elif own is not None and op in own.variables:
            self._put(around, _argument(op, own))
        else:
            self._put(around, op)

    def _put(self, path: Path, op: Operation) -> None:
        for length in range(1, len(path) + 1):
            if path[:length] not in self.content:
                self.content[path[:length]] = []
                self.content[path[: length - 1]].append(path[:length])
        self.content[path].append(op)

    def _while(self, path: Path) -> Operation:
        part, name = self.parts[path], self.names[path]
        loop = Loop(
            graph=self.graph(path),
            variables=tuple(op.name for op in part.variables),
            captures=tuple(op.name for op in part.captures),
            cond=part.cond.output(),
            results=part.results,
        )
        waits = dict.fromkeys(name for op in part.captures for name in op.control_inputs)
        backward = part.cond.phase is Phase.BACKWARD
        made = Operation(
            name=name,
            type="While",
            inputs=(*part.starts, *(takes(op, 0) for op in part.captures)),
            control_inputs=tuple(waits),
            attrs={LOOP: loop, "parallel_iterations": part.parallel},
            origin=_gradient_of(name, self.names.values()) if backward else "",
            phase=part.cond.phase,
        )
        require_sound(made)
        return made


def _gradient_of(name: str, loops: Iterable[str]) -> str:
    """Which loop "gradients/while/While" is the gradient of: "while/While"; "" for none."""
    return max((loop for loop in loops if name.endswith(f"/{loop}")), key=len, default="")


def _argument(op: Operation, part: FramePart) -> Operation:
    """The `_Arg` of a loop variable's Merge, or of an Enter."""
    dtype = op.attrs.get("T")
    if not isinstance(dtype, DType):
        raise malformed_loop(op, f"{op.type} '{op.name}' has no element type T")
    attrs = {"T": dtype, **{k: v for k, v in op.attrs.items() if k not in _SAID}}
    if op.type == "RefEnter":
        attrs["ref"] = True
    if op.type in ENTERS and part.parallel != (own := parallel_iterations(op)):
        attrs["parallel_iterations"] = own
    if op.control_inputs:
        attrs[ACROSS] = op.control_inputs
    return replace(op, type="_Arg", inputs=(), control_inputs=(), attrs=attrs)


def _outside(op: Operation, part: FramePart, loop: str) -> Operation:
    """What leaves a loop, as it stands behind the While called `loop`."""
    waits = tuple(name for name in op.control_inputs if name not in part.leaving)
    attrs: dict[str, Any] = dict(op.attrs)
    if waits or op.type not in EXITS:
        attrs[ACROSS] = waits
    return replace(
        op,
        inputs=tuple(_last(ref, part.switches, loop) for ref in op.inputs),
        control_inputs=tuple(name for name in op.control_inputs if name in part.leaving),
        attrs=attrs,
    )


def _last(ref: TensorRef | None, switches: Mapping[str, int], loop: str) -> TensorRef | None:
    if ref is None or ref.op not in switches:
        return ref
    return TensorRef(loop, switches[ref.op])


def _scope(frame: str) -> str:
    """How the While of a frame is called if it can be: "while/While" of "while/while_context"."""
    return f"{frame.rpartition('/')[0] or frame or 'while'}/While"
