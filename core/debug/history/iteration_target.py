"""What can be given another value amid a loop: which value of an iteration a name means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.debug.history.injection_target import (
    Target,
    refused,
    require_alive,
    require_computed,
    require_tensor,
)
from gradstep.core.debug.history.loop_iterations import LoopIterations, LoopView
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import TensorRef, unknown_name
from gradstep.core.iteration_text import iteration_text
from gradstep.core.ops.state.opaque_state import OpaqueState

if TYPE_CHECKING:
    from gradstep.core.debug.history.timeline import Timeline
    from gradstep.core.engine.run.loop_places import Places


def view_at(timeline: Timeline, run: int, step: int, inside: Places) -> LoopView:
    """The iteration of the innermost loop at a place. Raises GradstepError where it is not kept."""
    (number, at), *deeper = inside
    loop: LoopIterations = timeline.enter(run, step)
    for following in deeper:
        loop = loop.enter(number, at)
        number, at = following
    return LoopView(loop, number, at)


def find_inside(timeline: Timeline, name: str, view: LoopView) -> Target:
    """What `name` means in an iteration. Raises GradstepError, with what can be done, for what is
    not there yet, or cannot be given."""
    plan, loop = view.loop.plan, view.loop
    if name in plan.variables and plan.variables[name].counter:
        return Target(name, plan.newest(name, view.step), plan.variables[name].type)
    ref = TensorRef.parse(name)
    where = plan.tensors.get(ref)
    where = loop.variable(ref) if where is None else where
    if where is None:
        raise _elsewhere(timeline, name, ref, view)
    if isinstance(where, str):
        return _variable(name, where, view)
    _require_own(name, ref, where, view)
    if plan.values[where].variable:
        return _variable(name, plan.values[where].variable, view)
    _require_there(name, ref, where, view)
    return Target(name, where, plan.values[where].type)


def _require_own(name: str, ref: TensorRef, where: int, view: LoopView) -> None:
    """Raise GradstepError for what is the same in all iterations."""
    plan = view.loop.plan
    if where in plan.fed or where in view.loop.iteration.started_captures:
        raise refused(
            name,
            "comes into the loop from outside, and is the same in all iterations",
            "step out, and give it before the loop begins",
        )
    if plan.constant(where) is not None:
        raise refused(
            name,
            "is a constant, and the same in all iterations",
            f"let it be another one on a branch: fork set {ref.op}.value = …",
        )


def _require_there(name: str, ref: TensorRef, where: int, view: LoopView) -> None:
    """Raise GradstepError for what has no value yet, or none that could be another one."""
    require_computed(name, view.loop.plan, where, view.step, " of the iteration")
    require_alive(name, view.dead(ref))
    held = view.value(ref)
    if held is None:
        raise refused(name, "is not kept any more", "restart, and give it when it is computed")
    require_tensor(name, view.loop.plan, where, held)


def _variable(name: str, where: str, view: LoopView) -> Target:
    """A loop variable, or a variable of the program that iterations write to."""
    plan, iteration = view.loop.plan, view.loop.iteration
    of = plan.variables[where]
    if of.counter or where in plan.per_run:
        raise refused(name, "is the state of its operation, and no tensor", "give its inputs")
    if where not in iteration.loop.variables and where not in iteration.written:
        raise refused(
            name,
            "is only read in the loop, and comes from outside",
            "step out, and give it before the loop begins",
        )
    index = plan.newest(where, view.step)
    held = view.loop.held(index, view.number, view.step)
    if held is None or isinstance(held, OpaqueState):
        raise refused(name, "is no tensor here", "give what it is made of")
    return Target(name, index, of.type)


def _elsewhere(timeline: Timeline, name: str, ref: TensorRef, view: LoopView) -> GradstepError:
    graph = timeline.plan.graph
    around = way_to(graph, ref.op)
    if around is None:
        return unknown_name(ref.op, [*view.loop.plan.tensors.of])
    here = f"{view.loop.name}, {iteration_text(view.number, view.loop.count)}"
    if view.loop.name in (op.name for op in around):
        return refused(
            name, "is in a loop inside of this one", "step into that loop, and give it there"
        )
    return refused(
        name,
        f"is outside of the loop that the session stands in ({here})",
        "step out of the loop, and give it before the loop begins or behind it",
    )
