"""What loops keep of their iterations, for the backward pass and for the debugger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradstep.core.engine.loops.given_values import GivenValues
from gradstep.core.engine.loops.trace_budget import LoopMemory
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.loop_body import Iteration, value_of
from gradstep.core.engine.plan.steps import Step, has_place
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.declare.attribute_kinds import attribute

if TYPE_CHECKING:
    from gradstep.core.engine.run.recording import Recording

Keep = Callable[[int, "Recording"], None]
# Does iterations again, from the captures and the variables that the first of them starts with, and
# with what is given in them by hand; and calls the last argument with each once it is done.
Repeat = Callable[[Mapping[int, Any], Mapping[str, Any], range, GivenValues | None, Keep], None]


@dataclass(frozen=True)
class Retention:
    """What the loops of a plan keep of each iteration. whole: every value, as far as there is room
    for them; asked: tensors inside loops that are kept in any case, for the way back, by operation.
    memory: what they may take; None: as much as there is."""

    whole: bool
    asked: Mapping[str, frozenset[TensorRef]]
    memory: LoopMemory | None = None


EVERYTHING = Retention(whole=True, asked={})


def retention_for(plan: Plan, whole: bool, memory: LoopMemory | None = None) -> Retention:
    """What the loops of `plan` keep: all that steps of it, or of loops in it, ask for."""
    asked: dict[str, set[TensorRef]] = {}
    for step in _steps_within(plan.steps) if plan.loops else ():
        if step.op.type == "IterationValue":
            ref = TensorRef.parse(attribute(step.op, "tensor", str))
            asked.setdefault(ref.op, set()).add(ref)
    return Retention(whole, {name: frozenset(refs) for name, refs in asked.items()}, memory)


@dataclass(frozen=True, eq=False)
class Kept:
    """What one loop keeps. asked, by_reference: values of its iteration, those of them that are
    made in one and have no place of their own. repeat: see Repeat; None where iterations cannot be
    done again, or need not."""

    iteration: Iteration
    whole: bool
    asked: tuple[int, ...]
    by_reference: tuple[int, ...]
    memory: LoopMemory | None
    repeat: Repeat | None = None
    _places: dict[TensorRef, int] = field(default_factory=dict)

    @classmethod
    def of(cls, iteration: Iteration, keeping: Retention, repeat: Repeat) -> Kept:
        """That is `keeping` for one loop. What a user's function does is not done again."""
        plan, made = iteration.plan, iteration.plan.made_by
        refs = (
            ref
            for name in plan.tensors.of
            for ref in keeping.asked.get(name, ())
            if ref in plan.tensors
        )
        unplaced = (i for i, value in enumerate(plan.values) if not has_place(value))
        again = keeping.memory is not None and keeping.whole and not iteration.calls_python
        return cls(
            iteration,
            keeping.whole,
            tuple({value_of(plan, ref) for ref in refs}),
            tuple(i for i in unplaced if made[i] >= 0),
            keeping.memory,
            repeat if again else None,
        )

    def place(self, tensor: TensorRef) -> int:
        """The value that a tensor of an iteration is. Raises GradstepError where there is none."""
        if tensor not in self._places:
            self._places[tensor] = value_of(self.iteration.plan, tensor)
        return self._places[tensor]

    @property
    def changing(self) -> frozenset[str]:
        """Variables that do not hold the same in all iterations."""
        return frozenset((*self.iteration.loop.variables, *self.iteration.written))


def _steps_within(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if step.iteration is not None:
            yield from _steps_within(step.iteration.plan.steps)
