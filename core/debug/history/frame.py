"""What every tensor held as of one step of one recorded run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

import numpy as np

from gradstep.core.debug.history.chosen_iterations import ChosenIterations
from gradstep.core.debug.history.loop_iterations import (
    NONE_CHOSEN,
    LoopView,
    last_view,
)
from gradstep.core.debug.history.timeline import Timeline
from gradstep.core.engine.device_transfer import get
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.engine.plan.loop_body import trace_of
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.plan.why_dead import Untaken, why_dead
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Operation, Phase, TensorRef
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.state.opaque_state import OpaqueState

Losses = Mapping[str, Mapping[TensorRef, TensorRef]]


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """A step of a run that gave a variable another value. before: the value until then, on the
    host; None where it had none."""

    step: int
    before: np.ndarray | None


@dataclass(frozen=True, slots=True)
class Frame:
    """Values once `step` steps of run number `run` are done; the same by whatever way the
    debugger came there.

    gradients: tensor -> the tensor that holds its gradient; losses: the same of each thing that is
    differentiated, by its name. loops: iterations that it looks into, the innermost first; chosen:
    those of other loops, of which it else looks at the last.
    """

    timeline: Timeline
    gradients: Mapping[TensorRef, TensorRef]
    run: int
    step: int
    loops: tuple[LoopView, ...] = ()
    losses: Losses = field(default_factory=dict)
    chosen: ChosenIterations = NONE_CHOSEN

    def value(self, ref: TensorRef | str) -> np.ndarray | None:
        """A copy of the tensor's value on the host, or None when it is not computed yet, or dead.

        A variable, or an alias of one, has the value last written at or before the step. Raises
        GradstepError when a dropped run must be replayed and that fails.
        """
        found = self._held(TensorRef.parse(ref) if isinstance(ref, str) else ref)
        return None if found is None else get(self.timeline.backend, found)

    def look(self, ref: TensorRef) -> np.ndarray | None:
        """The same, read-only and without a copy where it lies in the host's memory: to be done
        with before the debugger moves."""
        found = self._held(ref)
        if not isinstance(found, np.ndarray):
            return None if found is None else get(self.timeline.backend, found)
        seen = found.view()
        seen.flags.writeable = False
        return seen

    def last_write(self, ref: TensorRef | str) -> Write | None:
        """The last step up to this one, in this run, that gave another value to the variable that
        the tensor is, or is an alias of. None where there is none: what holds a value of its own,
        a variable as the run began with it, one that an iteration of a loop is about to write."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        plan, done = self.timeline.plan, min(self.step, self.timeline.done(self.run))
        where = plan.tensors.get(ref)
        if not isinstance(where, str) or any(loop.has(ref) for loop in self.loops):
            return None
        versions = plan.versions[where]
        newest = versions.index(plan.newest(where, done))
        if newest == 0:
            return None
        step = plan.made_by[versions[newest]]
        if self.skips(plan.steps[step].op.name):
            return None  # in a branch that was not taken
        held = self.timeline.held(self.run, versions[newest - 1], step)
        whole = held is not None and not isinstance(held, OpaqueState)
        return Write(step, get(self.timeline.backend, held) if whole else None)

    def state(self, ref: TensorRef | str) -> OpaqueState | None:
        """What the queue, tensor array or stack holds whose handle the tensor is; None when that is
        not there yet, or the tensor something else."""
        found = self._held(TensorRef.parse(ref) if isinstance(ref, str) else ref)
        return found if isinstance(found, OpaqueState) else None

    def _held(self, ref: TensorRef) -> Any:
        """The device array, or the state, that `value` and `state` show."""
        for loop in self.loops:
            if loop.has(ref):
                return self._behind(loop.value(ref))
        done = min(self.step, self.timeline.done(self.run))
        if self.run >= self.timeline.runs:
            return None
        plan = self.timeline.plan
        if ref.op in plan.failures:
            return None
        where = plan.tensors.get(ref)
        if where is None:
            around = way_to(plan.graph, ref.op)
            if not around:
                return self._untouched(ref)
            last = self._last_view(around)
            return None if last is None else last.value(ref)
        if isinstance(where, str):
            variable = plan.variables[where]
            made = variable.anew or ref.op != variable.op
            if made and (plan.step_of[ref.op] >= done or self.dead(ref)):
                return None
            where = plan.newest(where, done)
        elif plan.made_by[where] >= done or self.dead(ref):
            return None
        return self._behind(self.timeline.held(self.run, where, done))

    def looking_at(self, chosen: ChosenIterations) -> Frame:
        """The same, but of loops the iterations that were chosen."""
        if not chosen:
            return self
        kept: list[LoopView] = []
        for view in reversed(self.loops):
            other = view.chosen(chosen)
            kept.insert(0, other or view)
            if other is not None:
                break  # what is further inside was another iteration's
        return replace(self, loops=tuple(kept), chosen=chosen)

    def view_of(self, around: Sequence[Operation]) -> LoopView | None:
        """The iteration that it looks at of the last of the loops `around` something, the outermost
        first; None where that has not run."""
        found = self._last_view(around)
        return None if found is None or found.loop.name != around[-1].name else found

    def _last_view(self, around: Sequence[Operation]) -> LoopView | None:
        """The iteration of a loop that it looks into, else the one that was chosen, or the last
        once it has run. around: the loop, the outermost first where they are nested."""
        if not around or self.run >= self.timeline.runs:
            return None
        known = [*reversed(self.loops)]
        pairs = zip(known, around, strict=False)
        inside = [*takewhile(lambda pair: pair[0].loop.name == pair[1].name, pairs)]
        if inside:
            view, rest = inside[-1][0], around[len(inside) :]
            return view.inner(rest, self.chosen) if rest else view
        plan, done = self.timeline.plan, min(self.step, self.timeline.done(self.run))
        first = plan.step_of.get(around[0].name)
        if first is None or first >= done:
            return None
        step = plan.steps[first]
        held = self.timeline.held(self.run, trace_of(step), done)
        return last_view(step, held, around[1:], self.chosen)

    def _behind(self, held: Any) -> Any:
        """What `held` leads to where it is the handle of a tensor array or a stack, as of the
        position in the innermost loop that has any; else `held`."""
        if isinstance(held, np.ndarray) and held.dtype == object and held.ndim == 0:
            for shared in self._shared():
                found = shared.at(held) if isinstance(shared, OpaqueState) else None
                if found is not None:
                    return found
        return held

    def _shared(self) -> Iterator[Any]:
        """What all operations of the run work on that name its class."""
        for loop in self.loops:
            yield from loop.shared()
        plan, done = self.timeline.plan, min(self.step, self.timeline.done(self.run))
        for name in plan.per_run:
            yield self.timeline.held(self.run, plan.newest(name, done), done)

    def dead(self, ref: TensorRef | str) -> Untaken | None:
        """Why the tensor is dead; None where it is not, or that is not settled yet."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        for loop in self.loops:
            if loop.has(ref):
                return loop.dead(ref)
        plan = self.timeline.plan
        if ref not in plan.tensors:
            last = self._last_view(way_to(plan.graph, ref.op) or ())
            return None if last is None else last.dead(ref)
        if ref not in plan.alive or self.run >= self.timeline.runs:
            return None
        done = min(self.step, self.timeline.done(self.run))
        if plan.step_of[ref.op] >= done:
            return None
        return why_dead(plan, ref, lambda value: self.timeline.held(self.run, value, done))

    def is_dropped(self, ref: TensorRef | str) -> bool:
        """Whether the tensor was computed in an iteration of a loop, or may have been, and that is
        not kept any more: where recorded runs have no room for all iterations, and what a user's
        function does would have to be done again."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        for loop in self.loops:
            if loop.has(ref):
                return loop.is_lost(ref)
        around = way_to(self.timeline.plan.graph, ref.op) or ()
        last = self._last_view(around)
        return last is not None and last.is_lost(ref, around)

    def skips(self, operation: str) -> bool:
        """Whether the operation, which is the next or done, is dead in this run."""
        for loop in self.loops:
            if (skipped := loop.skips(operation)) is not None:
                return skipped
        plan = self.timeline.plan
        step = plan.step_of.get(operation)
        guard = None if step is None else plan.steps[step].guard
        if guard is None or self.run >= self.timeline.runs:
            return False
        done = min(self.step, self.timeline.done(self.run))
        return not holds(guard.when, lambda value: self.timeline.held(self.run, value, done))

    def gradient(self, ref: TensorRef | str, of: str = "") -> np.ndarray | None:
        """The value of the tensor's gradient, of `of` where several things are differentiated; None
        when there is none, or not yet."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        held = self.holder(ref, of)
        return None if held is None else self.value(held)

    def place(self, name: str) -> int | None:
        """The number of the run, of steps that are done in it, or of the iteration of the innermost
        loop that it looks into; None outside of loops."""
        if name == "iteration":
            return self.loops[0].number if self.loops else None
        return self.run if name == "run" else self.step

    def before(self) -> Frame | None:
        """The end of the run before; None where there is none, or it is not recorded."""
        run = self.run - 1
        if not self.timeline.is_recorded(run):
            return None
        return replace(self, run=run, step=self.timeline.done(run), loops=())

    @property
    def innermost(self) -> tuple[Plan, int]:
        """The plan of the innermost loop that it looks into, of the run outside of loops; and how
        many steps of it are done."""
        if not self.loops:
            return self.timeline.plan, self.step
        return self.loops[0].loop.plan, self.loops[0].step

    def written(self, ref: TensorRef) -> bool:
        """Whether the step before this position, of the innermost loop that it looks into, gave the
        tensor, or the variable that it stands for, the value that it has."""
        plan, step = self.innermost
        where = plan.tensors.get(ref)
        if where is None and self.loops:
            where = self.loops[0].loop.variable(ref)
        if where is None or step == 0:
            return False
        index = plan.newest(where, step) if isinstance(where, str) else where
        return plan.made_by[index] == step - 1 and not self.skips(plan.steps[step - 1].op.name)

    def gradient_written(self, ref: TensorRef, of: str = "") -> bool:
        """Whether that step gave the tensor's gradient its value."""
        held = self.holder(ref, of)
        return held is not None and self.written(held)

    def lacks_gradient(self, ref: TensorRef, of: str = "") -> bool:
        """Whether the gradient of a forward tensor is None, of `of` where several things are
        differentiated; not where nothing is."""
        held, graph = self._holders(of), self.timeline.plan.graph
        is_forward = ref.op not in graph or graph[ref.op].phase is Phase.FORWARD
        return bool(held) and is_forward and ref not in held

    def holder(self, ref: TensorRef, of: str = "") -> TensorRef | None:
        """The tensor that holds another one's gradient, of `of` where several things are
        differentiated; None where it has none."""
        return self._holders(of).get(ref)

    def _holders(self, of: str) -> Mapping[TensorRef, TensorRef]:
        return self.losses.get(of, {}) if of else self.gradients

    def update(self, ref: TensorRef | str) -> np.ndarray | None:
        """What a variable has become less what the run began it with; None for what is no variable,
        and for one without a value then or now."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        where = self.timeline.plan.tensors.get(ref)
        if not isinstance(where, str):
            return None
        own = TensorRef(self.timeline.plan.variables[where].op)
        now, then = self.value(own), replace(self, step=0, loops=()).value(own)
        return None if now is None or then is None else now - then

    def _untouched(self, ref: TensorRef) -> Any:
        """A variable that no step of the plan touches keeps its first value."""
        graph = self.timeline.plan.graph
        if ref.index or ref.op not in graph:
            return None
        op = graph[ref.op]
        definition = find(op.type)
        first = None
        if definition is not None and definition.state.first is not None:
            first = definition.state.first(op)
        found = self.timeline.outside(storage_name(op))
        return first if found is None else found
