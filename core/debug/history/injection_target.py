"""What can be given another value where a session stands: which value of its plan a name means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.core.engine.plan.dependent_steps import says_sizes
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.plan.why_dead import Untaken
from gradstep.core.engine.run.variable_map import require_fitting, variable_in
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Operation, TensorRef, unknown_name
from gradstep.core.ops.state.opaque_state import OpaqueState

if TYPE_CHECKING:
    from gradstep.core.debug.motion.debug_session import DebugSession


@dataclass(frozen=True)
class Target:
    """index: of the plan's value; None for a variable that no step has to do with. fed: the tensor,
    where it is fed to every run, or a constant, which is there in every run."""

    name: str
    index: int | None
    type: TensorType | None = None
    variable: Operation | None = None
    fed: TensorRef | None = None

    @property
    def storage(self) -> str:
        return "" if self.variable is None else storage_name(self.variable)

    def require_fitting(self, value: np.ndarray) -> None:
        """Raise GradstepError where the value is of another dtype or shape."""
        if self.variable is not None:
            require_fitting(self.variable, value)
        elif self.type is not None:
            _require_type(self.name, self.type, value)


def find_target(session: DebugSession, name: str, at: tuple[int, int]) -> Target:
    """What `name` ("w", "a:0"; a counter of random numbers) means after a step of a run. Raises
    GradstepError, with what can be done, for what is not there yet, or cannot be given."""
    graph, plan = session.program.graph, session.plan
    if name in plan.variables and plan.variables[name].counter:
        return Target(name, plan.newest(name, at[1]), plan.variables[name].type)
    ref = TensorRef.parse(name)
    if way_to(graph, ref.op):
        raise refused(
            name,
            "is computed in a loop's iterations",
            "step into the loop, and give it in an iteration",
        )
    if ref.op not in graph:
        raise unknown_name(ref.op, graph.operations)
    where = plan.tensors.get(ref)
    if isinstance(where, str):
        variable = variable_in(graph, plan.variables[where].op)
        if variable is None:
            raise refused(name, "is the state of its operation, and no tensor", "give its inputs")
        return Target(name, plan.newest(where, at[1]), variable=variable)
    if where is None:
        variable = variable_in(graph, ref.op) if ref.index == 0 else None
        if variable is not None:
            return Target(name, None, variable=variable)
        raise refused(name, "is not computed by this run", "look at it, or fetch it, first")
    _require_there(session, name, ref, where, at)
    is_constant = plan.constant(where) is not None
    fed = ref if where in plan.fed or is_constant else None
    return Target(name, where, plan.values[where].type, fed=fed)


def step_that_tells(session: DebugSession, name: str) -> int | None:
    """After how many steps of the run that a session stands in another value of a tensor has a
    say: None for here. What read it has done so where no step that is still to come does; who gives
    it another value nevertheless asks what these would have made of it."""
    stop, plan = session.stop, session.plan
    if stop.inside or name in plan.variables:
        return None
    index = plan.tensors.get(TensorRef.parse(name))
    if not isinstance(index, int):
        return None
    made = plan.made_by[index] + 1
    read = [made + n for n, step in enumerate(plan.steps[made:]) if index in step.needs]
    return made if read and read[-1] < stop.step else None


def _require_there(
    session: DebugSession, name: str, ref: TensorRef, index: int, at: tuple[int, int]
) -> None:
    require_computed(name, session.plan, index, at[1])
    frame = session.frame(*at)
    require_alive(name, frame.dead(ref))
    require_tensor(name, session.plan, index, frame.state(ref))


def require_computed(name: str, plan: Plan, index: int, done: int, of: str = "") -> None:
    """Raise GradstepError for what none of so many steps has made. of: what they are of, in
    words."""
    step = plan.made_by[index]
    if step >= done:
        hint = f"go on to behind step {step}{of}, which computes it"
        raise refused(name, "has no value here yet", hint)


def require_alive(name: str, untaken: Untaken | None) -> None:
    """Raise GradstepError for what is dead, if it is known why."""
    if untaken is not None:
        raise refused(name, "is dead: its branch is not taken", "give what decides about that")


def require_tensor(name: str, plan: Plan, index: int, held: Any) -> None:
    """Raise GradstepError for what is no tensor, or one that cannot be another without an edit."""
    if isinstance(held, OpaqueState):
        raise refused(name, "is a handle, and no tensor", "give what is put in there")
    if says_sizes(plan, index):
        raise refused(
            name, "says how large something is, or along which axis", "edit the constant instead"
        )


def _require_type(name: str, type: TensorType, value: np.ndarray) -> None:
    found = DType.of(value.dtype)
    if found is not type.dtype:
        raise GradstepError(
            f"'{name}' is {type.dtype.value}, and the value {found.value}",
            kind="TypeError",
            node=TensorRef.parse(name).op,
            hint=f"make it {type.dtype.value}",
        )
    if not type.shape.accepts(value.shape):
        raise GradstepError(
            f"'{name}' is of shape {type.shape}, and the value of {[*value.shape]}",
            kind="InvalidArgumentError",
            node=TensorRef.parse(name).op,
            hint="a value of another shape is an edit of the document",
        )


def refused(name: str, why: str, hint: str) -> GradstepError:
    """That what `name` means cannot be given, why, and what can be done."""
    node = TensorRef.parse(name).op
    return GradstepError(f"'{name}' {why}", kind="FailedPreconditionError", node=node, hint=hint)
