"""What goes round a loop is called: `h⁽⁰⁾`, then `h⁽ᵗ⁾` and `h⁽ᵗ⁺¹⁾`, in the end `h⁽ᵀ⁾`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from gradstep.core.graph.loop import LOOP, Loop, loop_of
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.ops.declare.table import branch_of, find

COUNT = "T"  # how many iterations a loop makes
_ROUNDS = "ᵗˢʳᵘ"  # which iteration, of a loop and of those inside it
# Names that TensorFlow gives to what nobody named, besides those of op types.
_DULL = frozenset("zeros ones const add mul sub read state initial_value".split())
_PASSING = frozenset(("Enter", "RefEnter", "Exit", "RefExit", "Identity", "Switch", "_Arg"))
_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class LoopSymbols:
    """Of all loops in a graph whose loops are flattened (gradstep.core.ops.typing.flatten_loops).

    round: tensor -> how it is called by the iteration; same: tensor -> the loop variable that it
    is, in the same iteration; carried: the argument of a loop variable -> what it is next.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.round: dict[TensorRef, str] = {}
        self.same: dict[TensorRef, TensorRef] = {}
        self.carried: dict[str, TensorRef] = {}
        self.captured: dict[str, str] = {}  # an argument that stays the same -> the iteration
        self.conditions: dict[str, TensorRef] = {}  # of each loop variable's argument, and While
        self.counters: dict[str, str] = {}  # the counter of a loop on the way back -> its loop
        types = [type for type in graph.by_type if _may_loop(type)]
        runs = map(graph.operations.__getitem__, graph.of_types(types))
        loops = {op.name: loop for op in runs if (loop := loop_of(op)) is not None}
        self._depth = _depths(loops)
        for name, loop in loops.items():
            self._note(graph[name], loop)
            self._note_inside(loop)
            self._note_exits(name)

    def variable(self, ref: TensorRef) -> TensorRef | None:
        """The loop variable that a tensor is, at the start of its iteration."""
        found = self.same.get(ref, ref)
        return found if found.op in self.carried else None

    def when(self, ref: TensorRef) -> str:
        """`⁽ᵗ⁾`, of what a loop reads from outside."""
        return self.captured[ref.op]

    def _note(self, op: Operation, loop: Loop) -> None:
        depth = self._depth[op.name]
        names, at = _names(self.graph, op, loop), _round(depth)
        counted = f"{at}⁼" if depth else ""  # of an inner loop: v⁽⁰⁾ is the outer one's
        self.captured.update(dict.fromkeys(loop.captures, f"⁽{at}⁾"))
        self.conditions.update(dict.fromkeys((op.name, *loop.variables), loop.cond))
        for number, (argument, result) in enumerate(zip(loop.variables, loop.results, strict=True)):
            name = names[number]
            self.carried[argument] = result
            source = op.inputs[number]
            if op.phase is Phase.BACKWARD and number == 0 and self._counts(source):
                self.counters[argument] = op.name
                self.round[TensorRef(argument)] = "k"
                continue
            self.round[TensorRef(argument)] = f"{name}⁽{at}⁾"
            self.round[TensorRef(op.name, number)] = f"{name}⁽{counted}ᵀ⁾"
            if self._is(result, "NextIteration"):
                self.round[result] = f"{name}⁽{at}⁺¹⁾"
            if source is not None and self._is(source, "Enter"):
                self.round.setdefault(source, f"{name}⁽{counted}⁰⁾")

    def _note_inside(self, loop: Loop) -> None:
        """What passes a loop variable on: its Switch, and the Identities behind that."""
        for op in loop.graph:
            source = op.inputs[0] if op.inputs else None
            if source is None or branch_of(op.type) != "switch" or source.op not in self.carried:
                continue
            for index in (0, 1):
                self.same[op.output(index)] = TensorRef(source.op)
            for edge in loop.graph.consumers[op.name]:
                inside = loop.graph.source(edge) == op.output(1)
                if inside and loop.graph[edge.op].type == "Identity":
                    self.same[TensorRef(edge.op)] = TensorRef(source.op)

    def _note_exits(self, loop: str) -> None:
        """What has a loop variable's value behind the loop."""
        for edge in self.graph.consumers[loop]:
            source = self.graph.source(edge)
            leaves = self.graph[edge.op].type in ("Exit", "RefExit")
            if source is not None and leaves and source in self.round:
                self.same[TensorRef(edge.op)] = source

    def _is(self, ref: TensorRef, type: str) -> bool:
        return ref.op in self.graph and self.graph[ref.op].type == type

    def _counts(self, ref: TensorRef | None) -> bool:
        return ref is not None and self._is(ref, "IterationCount")


def _round(depth: int) -> str:
    return _ROUNDS[min(depth, len(_ROUNDS) - 1)]


def _depths(loops: Mapping[str, Loop]) -> dict[str, int]:
    """Of each While, which come after those around them, how many these are."""
    found = dict.fromkeys(loops, 0)
    for name, loop in loops.items():
        inner = (op.name for op in loop.graph if op.name in found)
        found.update(dict.fromkeys(inner, found[name] + 1))
    return found


def _names(graph: Graph, op: Operation, loop: Loop) -> list[str]:
    """Of each loop variable: of what it begins with, if that has a name of its own; else v₂."""
    found = [_telling(graph, ref) for ref in op.inputs[: len(loop.variables)]]
    others = {_telling(graph, ref) for ref in op.inputs[len(loop.variables) :]}
    often = Counter(found)
    return [
        name if name and often[name] == 1 and name not in others else _numbered(number)
        for number, name in enumerate(found)
    ]


def _may_loop(type: str) -> bool:
    """Whether an operation of the type may run a loop."""
    definition = find(type)
    return definition is not None and LOOP in definition.attrs


def _numbered(number: int) -> str:
    return "v" + str(number).translate(_DIGITS)


def _telling(graph: Graph, ref: TensorRef | None) -> str:
    """What somebody called the tensor that goes into a loop; "" where nobody did."""
    while ref is not None and ref.op in graph:
        op = graph[ref.op]
        if op.type not in _PASSING or not op.inputs or not _is_dull(op.name):
            return "" if _is_dull(op.name) else op.name.rpartition("/")[2]
        ref = op.inputs[0]
    return ""


def _is_dull(name: str) -> bool:
    last = re.sub(r"_\d+$", "", name.rpartition("/")[2])
    return last in _DULL or find(last) is not None
