"""One operation's VJP as it was run, and what it would have given for other operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.checks.why.element_dependence import Other
from gradstep.core.checks.why.recorded_values import Given, Made, Ran, read_iteration_value, source
from gradstep.core.checks.why.step_on_other_inputs import Again
from gradstep.core.graph.model import Operation, Phase, TensorRef
from gradstep.core.graph.number_kinds import kind_of


@dataclass(frozen=True, eq=False)
class Leaf:
    """A value of the way there that the turn reads: its number in the plan of the way back, the
    tensor that it is, what it was."""

    index: int
    ref: TensorRef
    array: np.ndarray


class RecordedVjp:
    """The turn of `op` in `ran`, a run or an iteration of the loop on the way back, as far as
    `carried` has to do with it: the tensor that went over one of the operation's wires.

    arrived: the gradients of the operation's outputs, by the number of the value.
    """

    def __init__(
        self,
        again: Again,
        ran: Ran,
        op: Operation,
        carried: TensorRef,
        arriving: Sequence[TensorRef],
    ) -> None:
        self._again, self._ran, self._op = again, ran, op
        target = ran.value_of(carried)
        assert target is not None
        self._target = target
        numbers = (ran.value_of(ref) for ref in arriving)
        self.arrived = {
            i: x for i in numbers if i is not None and (x := self._array(i)) is not None
        }
        self._read: dict[int, Any] = {}
        self._steps = self._own_steps()
        steps = ran.plan.steps
        self.can_run = bool(self._steps) and all(again.can_run(steps[s]) for s in self._steps)
        self.leaves = [*self._leaves()]

    @property
    def step(self) -> int:
        """The number of the step that made what is carried."""
        return self._ran.plan.made_by[self._target]

    @property
    def carried(self) -> np.ndarray | None:
        return self._array(self._target)

    def with_leaf(self, leaf: Leaf, other: Other) -> Iterator[np.ndarray]:
        """What would be carried if `leaf` were another."""
        return self._results({leaf.index: x} for x in other(leaf.array))

    def with_own(self, own: Sequence[Leaf], number: int, other: Other) -> Iterator[np.ndarray]:
        """What would be carried if the operation's input `number` were another: `own` are that
        input, and what the operation makes of it."""
        made = next((m for x in own if (m := self._made(x)) is not None), None)
        if made is None:
            for leaf in own:
                yield from self.with_leaf(leaf, other)
            return
        step = made.ran.plan.steps[made.step]
        inputs = self._again.inputs(made.ran, step)
        for x in other(inputs[number]):
            results = self._again.run(step, [*inputs[:number], x, *inputs[number + 1 :]])
            if results is not None:
                yield from self._results([{v.index: self._became(v, x, results) for v in own}])

    def _made(self, leaf: Leaf) -> Made | None:
        """The step of the operation itself, on the way there, whose result `leaf` is."""
        if leaf.ref.op != self._op.name:
            return None
        made = self._origin(leaf.index)
        runs_again = isinstance(made, Made) and self._again.can_run(made.ran.plan.steps[made.step])
        return made if isinstance(made, Made) and runs_again else None

    def _became(self, leaf: Leaf, x: np.ndarray, results: Sequence[np.ndarray]) -> np.ndarray:
        return results[leaf.ref.index] if leaf.ref.op == self._op.name else x

    def with_arrived(self, other: Other) -> Iterator[np.ndarray]:
        """What would be carried if other gradients had arrived; those of which there is no other
        stay."""
        made = {i: [*other(x)] for i, x in self.arrived.items()}
        for number in range(max(map(len, made.values()), default=0)):
            yield from self._results([{i: xs[number] for i, xs in made.items() if xs}])

    def with_value(self, index: int, x: np.ndarray) -> Iterator[np.ndarray]:
        """What would be carried if one value were `x`."""
        return self._results([{index: x}])

    def _results(self, instead: Any) -> Iterator[np.ndarray]:
        for values in instead:
            found = self._run(values)
            if found is not None:
                yield found

    def _run(self, instead: Mapping[int, np.ndarray]) -> np.ndarray | None:
        there = {**self._read, **instead}
        for number in self._steps:
            step = self._ran.plan.steps[number]
            results = self._again.run(step, [there.get(i) for i in step.reads])
            if results is None:
                return None
            there.update(zip(step.writes, results, strict=False))
        found = there[self._target]
        return found if isinstance(found, np.ndarray) else None

    def _own_steps(self) -> list[int]:
        """The steps of the turn that lead to what is carried, in order; notes what they read."""
        plan, found = self._ran.plan, set[int]()
        waiting = [self._target]
        while waiting:
            index = waiting.pop()
            made = plan.made_by[index]
            if index in self.arrived or made < 0 or not self._is_own(plan.steps[made].op):
                self._read[index] = self._again.array(self._ran.held(index))
            elif made not in found:
                found.add(made)
                waiting += plan.steps[made].reads
        return sorted(found)

    def _is_own(self, op: Operation) -> bool:
        mine = op.phase is Phase.BACKWARD and op.origin == self._op.name
        return mine and op.type != "IterationValue"

    def _leaves(self) -> Iterator[Leaf]:
        for index, x in self._read.items():
            if (
                index in self.arrived
                or not isinstance(x, np.ndarray)
                or kind_of(x.dtype) not in "biufc"
            ):
                continue
            ref = self._forward(index)
            if ref is not None:
                yield Leaf(index, ref, x)

    def _forward(self, index: int) -> TensorRef | None:
        """The tensor of the way there that a value is; None of one that the way back made."""
        made = self._origin(index)
        op = made.ran.plan.steps[made.step].op if isinstance(made, Made) else None
        if op is None or op.phase is not Phase.BACKWARD:
            return made.ran.tensor(made.index)
        return self._copied(op) if op.type == "Const" else None

    def _copied(self, constant: Operation) -> TensorRef | None:
        """The operation's own constant of which one on the way back is the copy: in loops the way
        back has a constant again instead of reading it from the iterations."""
        read = (ref for ref in self._op.inputs if ref is not None)
        return next((ref for ref in read if constant.name.endswith(f"/{ref.op}")), None)

    def _origin(self, index: int) -> Made | Given:
        """What made a value, on the way there if it was read from there."""
        made = source(self._ran, index)
        if isinstance(made, Made) and made.ran.plan.steps[made.step].op.type == "IterationValue":
            step = made.ran.plan.steps[made.step]
            number = int(self._again.array(made.ran.held(step.reads[1])))
            there = read_iteration_value(made.ran, step, number)
            return source(there.ran, there.index)
        return made

    def _array(self, index: int) -> np.ndarray | None:
        found = self._again.array(self._ran.held(index))
        return found if isinstance(found, np.ndarray) else None
