"""Which frame each operation of a GraphDef is in: TensorFlow's loops, told from their Enters.

A frame is named by the Enters that lead into it, and lies in the frame that those are in. Data
enters it by an `Enter`, goes round by `Merge`, `Switch` and `NextIteration`, and leaves by an
`Exit`; `LoopCond` says whether there is another iteration.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, TensorRef, predecessors

ENTERS = frozenset({"Enter", "RefEnter"})
EXITS = frozenset({"Exit", "RefExit"})
MERGES = frozenset({"Merge", "RefMerge"})
SWITCHES = frozenset({"Switch", "RefSwitch"})
NEXTS = frozenset({"NextIteration", "RefNextIteration"})

Path = tuple[str, ...]  # names of frames, the outermost first; none at the top


@dataclass(frozen=True, eq=False)
class Frames:
    """graph: a GraphDef's, with its cycles. around: the frame that each operation is in, an Enter
    in the one that it leads out of."""

    graph: Graph
    around: Mapping[str, Path]

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Every frame, those that lie in others behind them."""
        found = {*self.inside, *self.entering}
        return tuple(sorted(found - {()}, key=lambda path: (len(path), path)))

    @cached_property
    def inside(self) -> Mapping[Path, list[Operation]]:
        """The operations in each very frame."""
        found: dict[Path, list[Operation]] = defaultdict(list)
        for op in self.graph:
            found[self.around[op.name]].append(op)
        return found

    @cached_property
    def entering(self) -> Mapping[Path, list[Operation]]:
        """The Enters that lead into each frame."""
        found: dict[Path, list[Operation]] = defaultdict(list)
        for op in self.graph:
            if op.type in ENTERS:
                found[beyond(op, self.around[op.name])].append(op)
        return found


def frames_of(graph: Graph) -> Frames:
    """Where the operations of a GraphDef are. Raises GradstepError for one whose inputs are in
    different frames, and for a cycle that is no loop."""
    around: dict[str, Path] = {}
    for name in Graph.of(_without_way_back(op, graph) for op in graph).order:
        op = graph[name]
        around[name] = _place(op, graph, around)
        beyond(op, around[name])  # an Exit has to be in a loop, used or not
    return Frames(graph, around)


def beyond(op: Operation, path: Path) -> Path:
    """The frame where what `op` makes is, if `op` is in frame `path`. Raises GradstepError."""
    if op.type in ENTERS:
        return (*path, str(op.attrs.get("frame_name", "")))
    if op.type not in EXITS:
        return path
    if not path:
        raise malformed_loop(op, f"{op.type} '{op.name}' is in no loop")
    return path[:-1]


def goes_round(op: Operation, graph: Graph) -> bool:
    """Whether `op` is the Merge of a loop variable."""
    return op.type in MERGES and any(r is not None and graph[r.op].type in NEXTS for r in op.inputs)


def malformed_loop(op: Operation, what: str, hint: str = "") -> GradstepError:
    """The error for a loop that is none, at one of its operations."""
    return GradstepError(
        what,
        kind="InvalidArgumentError",
        node=op.name,
        hint=hint or "the file is damaged, or was not written by TensorFlow",
    )


def _without_way_back(op: Operation, graph: Graph) -> Operation:
    if not goes_round(op, graph):
        return op
    there = (r for r in op.inputs if r is not None and graph[r.op].type not in NEXTS)
    return replace(op, inputs=tuple(there))


def _place(op: Operation, graph: Graph, around: Mapping[str, Path]) -> Path:
    """The frame that all of `op`'s inputs are in; what has none is at the top."""
    first: tuple[str, Path] | None = None
    for name in predecessors(op):
        if name not in around:
            continue  # the way back into a Merge
        path = beyond(graph[name], around[name])
        if first is None:
            first = name, path
        elif path != first[1]:
            raise malformed_loop(
                op,
                f"The node '{op.name}' has inputs from different frames. The input '{first[0]}' is "
                f"in frame '{'/'.join(first[1])}'. The input '{name}' is in frame "
                f"'{'/'.join(path)}'.",
                "inside a loop, take what is outside through an Enter",
            )
    return () if first is None else first[1]


def takes(op: Operation, index: int) -> TensorRef:
    """Input number `index` of `op`. Raises GradstepError where there is none."""
    ref = op.inputs[index] if index < len(op.inputs) else None
    if ref is None:
        raise malformed_loop(op, f"{op.type} '{op.name}' has no input {index}")
    return ref
