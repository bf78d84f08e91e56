"""At which positions of a plan an expression may have become something else, found before looking.

Position p is behind step p - 1. A moment is a position, and the tensor that `value` and `grad` mean
there: what the step gave, or whose gradient it gave. An expression that says neither has one moment
behind each step that gives a value to something it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gradstep.core.debug.breaks.expression import Expression
from gradstep.core.debug.breaks.expression_names import find_mentions
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.motion.step_index import written_by
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import TensorRef

Subjects = Sequence[TensorRef | None]
_AT_BEGIN = frozenset({"run", "previous"})


@dataclass(frozen=True, eq=False)
class PlanMoments:
    """at: position -> the subjects there, ascending. begin: those of the start of every run or
    iteration; first: those of the first one alone. loops: the steps with moments inside."""

    at: Mapping[int, Subjects]
    begin: Subjects = ()
    first: Subjects = ()
    loops: Mapping[int, PlanMoments] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.at or self.begin or self.first or self.loops)

    @cached_property
    def positions(self) -> Sequence[int]:
        """Those behind steps, the loops included, ascending."""
        return sorted({*self.at, *(step + 1 for step in self.loops)})


class MomentFinder:
    """Of one expression, in the program that `frame` is of. varying: what is fed that is other in
    each run."""

    def __init__(
        self, expression: Expression, frame: Frame, varying: Collection[TensorRef]
    ) -> None:
        self._expression, self._varying = expression, varying
        self._named = frozenset(_named(expression.text, frame))
        self._updates = any(table == "update" for table, _ in find_mentions(expression.text))
        self._about: dict[TensorRef, list[TensorRef]] = {}  # what holds a gradient -> of what
        if "grad" in expression.bare:
            for ref, held in frame.gradients.items():
                self._about.setdefault(held, []).append(ref)

    def of_runs(self, plan: Plan) -> PlanMoments:
        """In runs of a program."""
        recorded = self._expression.recorded
        anew = bool(recorded & _AT_BEGIN) or self._updates or "step" in recorded
        given = self._given(plan)
        begin = self._subjects([ref for ref in given if ref in self._varying], anew)
        own = self._own_variables(plan)
        first = self._subjects([*own, *(ref for ref in given if ref not in self._varying)])
        return PlanMoments(self._at(plan), begin, first, self._loops(plan))

    def _of_iterations(self, step: Step) -> PlanMoments:
        """In iterations of the loop that `step` is."""
        assert step.iteration is not None
        plan, loop = step.iteration.plan, step.iteration.loop
        anew = bool(self._expression.recorded & {"iteration", "step"})
        begin = self._subjects([TensorRef(name) for name in loop.variables], anew)
        first = self._subjects([TensorRef(name) for name in loop.captures])
        return PlanMoments(self._at(plan), begin, first, self._loops(plan))

    def _loops(self, plan: Plan) -> Mapping[int, PlanMoments]:
        found = {number: self._of_iterations(plan.steps[number]) for number in plan.loops}
        return {number: inside for number, inside in found.items() if not inside.is_empty}

    def _at(self, plan: Plan) -> Mapping[int, Subjects]:
        found = {number + 1: self._behind(plan, number) for number in range(len(plan.steps))}
        return {position: subjects for position, subjects in found.items() if subjects}

    def _behind(self, plan: Plan, number: int) -> Subjects:
        step = plan.steps[number]
        written = written_by(plan, step)
        if self._expression.bare:
            return self._subjects(_given_by(plan, step, written))
        own = "" if _declares(plan, step, written) else step.op.name
        held = {TensorRef(plan.variables[name].op) for name in written}
        named = any(x.op == own or x in held or plan.tensors.get(x) in written for x in self._named)
        return [None] if named or "step" in self._expression.recorded else []

    def _subjects(self, given: Sequence[TensorRef], anew: bool = False) -> Subjects:
        """What is to be asked about once these have got a value. anew: whether to ask even if the
        expression names none of them."""
        if self._expression.bare:
            values = given if "value" in self._expression.bare else ()
            graded = (ref for held in given for ref in self._about.get(held, ()))
            return [*dict.fromkeys([*values, *graded])]
        return [None] if anew or not self._named.isdisjoint(given) else []

    def _given(self, plan: Plan) -> list[TensorRef]:
        return [ref for i in plan.fed if (ref := plan.values[i].ref) is not None]

    def _own_variables(self, plan: Plan) -> list[TensorRef]:
        """Those that there are before the first run; and what runs do not touch."""
        own = [TensorRef(v.op) for v in plan.variables.values() if v.op and not v.counter]
        return [*own, *(ref for ref in self._named if ref not in plan.tensors)]


def _declares(plan: Plan, step: Step, written: Collection[str]) -> bool:
    """Whether it is a variable, to which nothing happens there."""
    return not written and any(v.op == step.op.name for v in plan.variables.values())


def _given_by(plan: Plan, step: Step, written: Collection[str]) -> list[TensorRef]:
    """What a step gives a value: variables, and its outputs, but those that are a variable which it
    writes or declares."""
    outputs = enumerate(plan.tensors.of.get(step.op.name) or ())
    if _declares(plan, step, written):
        return []
    refs = [TensorRef(step.op.name, i) for i, where in outputs if where not in (None, *written)]
    variables = (plan.variables[name] for name in written)
    return [*refs, *(TensorRef(v.op) for v in variables if v.op and not v.counter)]


def _named(text: str, frame: Frame) -> Iterator[TensorRef]:
    """What it reads; of a gradient that of one loss, or of whichever there is, and where there is
    none, what it would be of."""
    for table, ref in find_mentions(text):
        if table != "grad":
            yield ref
            continue
        held = (frame.holder(ref, of) for of in ("", *frame.losses))
        yield from [found for found in held if found is not None] or [ref]
