"""The recorded backward pass by levels: the run as a whole, and each iteration of its loops."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gradstep.core.checks.why.recorded_values import LoopRan, Ran
from gradstep.core.graph.loop import Loop, loop_of, way_to
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.memory_release import memo_of_document
from gradstep.core.ops.declare.table import branch_of


@dataclass(frozen=True, eq=False)
class Level:
    """ran: what the way back computed, in a run or in one of its iterations; graph: the forward
    graph that it belongs to, of the whole or of an iteration of `loop`, which is of the level
    `around`; number: how many iterations were gone back through before."""

    ran: Ran
    graph: Graph
    around: Level | None = None
    loop: Operation | None = None
    back: LoopRan | None = None
    number: int = 0

    @property
    def after(self) -> Level | None:
        """The iteration that was gone back through just before: on the way there it came after."""
        if self.number == 0 or self.back is None or self.around is None or self.loop is None:
            return None
        return level_of(self.around, self.loop, self.back, self.number - 1)

    @property
    def iteration(self) -> tuple[tuple[int, str], ...]:
        """Number and loop of the iterations on the way there, the outermost first."""
        if self.around is None or self.loop is None or self.back is None:
            return ()
        return (*self.around.iteration, (self.back.count - 1 - self.number, self.loop.name))

    def outside(self, ref: TensorRef | None) -> TensorRef | None:
        """What an argument of the loop is outside of all loops; other tensors themselves."""
        loop = None if self.loop is None else loop_of(self.loop)
        if loop is None or ref is None or ref.op not in loop.captures:
            return ref
        assert self.loop is not None
        assert self.around is not None
        return self.around.outside(self.loop.inputs[loop.arguments.index(ref.op)])


def level_of(around: Level, op: Operation, back: LoopRan, number: int) -> Level:
    """Iteration `number` of the loop `back`, which goes back through the one that `op` runs."""
    loop = loop_of(op)
    assert loop is not None
    return Level(back.iteration(number), plain(loop), around, op, back, number)


def iterations_back(ran: Ran, op: Operation) -> LoopRan | None:
    """The loop that goes back through the one that the forward operation `op` runs, as it was run;
    None where there is none."""
    for number, step in enumerate(ran.plan.steps):
        mine = step.op.phase is Phase.BACKWARD and step.op.origin == op.name
        if mine and step.iteration is not None and ran.has_run(number):
            return LoopRan(ran, number)
    return None


def passed_by(graph: Graph, ref: TensorRef) -> TensorRef | None:
    """What a Switch passes on that is a loop's own, nested ones' too; None of any other tensor."""
    around = way_to(graph, ref.op)
    loop = loop_of(around[-1]) if around else None
    return None if loop is None else _own_switches(loop).get(ref.op)


def _own_switches(loop: Loop) -> dict[str, TensorRef | None]:
    """The Switches by which a loop goes round -> what they pass on."""
    return {
        op.name: op.inputs[0]
        for op in loop.graph
        if branch_of(op.type) == "switch" and op.inputs[1] == loop.cond
    }


@memo_of_document(32)
def plain(loop: Loop) -> Graph:
    """The graph of an iteration without the loop's own Switches, as it is differentiated."""
    own = _own_switches(loop)

    def passed(ref: TensorRef | None) -> TensorRef | None:
        return own[ref.op] if ref is not None and ref.op in own else ref

    kept = (op for op in loop.graph if op.name not in own)
    return Graph.of(replace(op, inputs=tuple(map(passed, op.inputs))) for op in kept)
