"""What tensors in loops are in a run of one's own: by the iteration of each loop around them."""

from __future__ import annotations

import numpy as np

from gradstep.core.checks.why.recorded_values import LoopRan, Ran, Recorded
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.device_transfer import get
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Operation, Phase, TensorRef

Place = tuple[int, ...]  # the iteration of each loop around, the outermost first


class OwnIterations:
    """Of one run of `program`. Iterations of the way back have the number of the forward one that
    they go back through."""

    def __init__(self, program: Program, backend: Backend) -> None:
        self._graph, self._backend = program.graph, backend
        session = DebugSession(program, backend)
        if (error := session.command("continue_").error) is not None:
            raise error
        self._run: Ran = Recorded(session).run(0)
        self._ways: dict[str, tuple[Operation, ...]] = {}
        self._loops: dict[tuple[str, Place], LoopRan | None] = {}

    def value(self, ref: TensorRef, place: Place) -> np.ndarray | None:
        """None where it was not computed: in another branch, or in an iteration that there was
        not."""
        ran = self._at(self.way(ref), place)
        index = None if ran is None else ran.value_of(ref)
        if ran is None or index is None:
            return None
        made = ran.plan.made_by[index]
        alive = ran.plan.alive.get(ref)
        if (made >= 0 and not ran.has_run(made)) or (
            alive is not None and not holds(alive, ran.held)
        ):
            return None
        held = ran.held(index)
        return None if held is None else get(self._backend, held)

    def way(self, ref: TensorRef) -> tuple[Operation, ...]:
        """The loops around it, the outermost first."""
        if ref.op not in self._ways:
            self._ways[ref.op] = way_to(self._graph, ref.op) or ()
        return self._ways[ref.op]

    def computes(self, ref: TensorRef) -> bool:
        """Whether anything needs it, so that it is computed at all."""
        way = self.way(ref)
        plan = self._run.plan
        for loop in way:
            step = plan.step_of.get(loop.name)
            iteration = None if step is None else plan.steps[step].iteration
            if iteration is None:
                return False
            plan = iteration.plan
        return ref in plan.tensors

    def count(self, loop: Operation, around: tuple[Operation, ...], place: Place) -> int:
        """How many iterations it made, in these of the loops around it."""
        ran = self._at(around, place)
        found = None if ran is None else self._loop(ran, loop, place)
        return 0 if found is None else found.count

    def _at(self, way: tuple[Operation, ...], place: Place) -> Ran | None:
        """The iteration, if it took place as far as its condition."""
        ran = self._run
        for depth, loop in enumerate(way):
            found = self._loop(ran, loop, place[:depth])
            number = _number(found, loop, place[depth]) if found is not None else None
            if found is None or number is None:
                return None
            ran = found.iteration(number)
        return ran

    def _loop(self, ran: Ran, loop: Operation, place: Place) -> LoopRan | None:
        key = loop.name, place
        if key not in self._loops:
            step = ran.plan.step_of.get(loop.name)
            there = step is not None and ran.has_run(step)
            self._loops[key] = LoopRan(ran, step) if there and step is not None else None
        return self._loops[key]


def _number(loop: LoopRan, op: Operation, iteration: int) -> int | None:
    """Of a loop's iterations, the one that belongs to a forward iteration."""
    if op.phase is not Phase.BACKWARD:
        return iteration if iteration <= loop.count else None
    number = loop.count - 1 - iteration
    return number if number >= 0 else None
