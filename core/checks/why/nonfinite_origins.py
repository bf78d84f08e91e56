"""The steps that made the first NaN or infinity on the paths to given steps.

From the elements that are looked at the search goes back, the last step first, over what each step
read: through loops from iteration to iteration, and through variables from run to run. Which of a
step's operands matter is found out by trying: it is run again with some of the wrong numbers
replaced by right ones. A step that gives wrong numbers although none came in has made them.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.checks.why.operand_trial import Trial, Wrong
from gradstep.core.checks.why.recorded_values import (
    Given,
    LoopRan,
    Made,
    Ran,
    Rank,
    RecordedValue,
    origin,
    read_iteration_value,
    source,
)
from gradstep.core.checks.why.step_on_other_inputs import Again, Masks
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import branch_of
from gradstep.core.ops.state.opaque_state import OpaqueState


@dataclass(frozen=True)
class Maker:
    """What made wrong numbers out of none: `mask` says which elements of its result."""

    made: Made | Given
    mask: np.ndarray

    @property
    def index(self) -> tuple[int, ...]:
        """The first of them."""
        return tuple(int(i) for i in np.argwhere(self.mask)[0])


@dataclass(frozen=True)
class _Node:
    """A step that is to be looked at. asked: the elements of its results; None: it wrote state."""

    ran: Ran
    number: int
    asked: dict[int, np.ndarray | None]

    @property
    def step(self) -> Step:
        return self.ran.plan.steps[self.number]


class Search:
    """Goes back from where it is told to `start`.

    wrong: which elements of an array of floating-point or complex numbers are what is looked for.
    """

    def __init__(self, again: Again, wrong: Wrong) -> None:
        self.makers: list[Maker] = []
        self._readers: dict[Rank, Rank] = {}  # step -> one that read what it made, on the way
        self.wrong = wrong
        self._again = again
        self._nodes: dict[Rank, _Node] = {}
        self._heap: list[Rank] = []  # the last one first: its numbers are negative

    def start(self, value: RecordedValue, only: np.ndarray | None = None) -> None:
        """Look at the wrong elements of a value, or at those of them in the mask `only`."""
        mask = self._wrong_in(self._array(value.ran, value.index))
        if mask is not None and only is not None:
            mask &= only
        if mask is not None and mask.any():
            self._follow(value, mask, ())

    def first(self) -> Maker | None:
        """The maker that came first, of all that matter; None where nothing is wrong."""
        while self._heap:
            rank = tuple(-n for n in heapq.heappop(self._heap))
            self._look(self._nodes[rank], rank)
        return min(self.makers, key=lambda maker: maker.made.rank, default=None)

    def way(self, maker: Maker) -> list[tuple[int, Operation]]:
        """The operations on the way from a maker, which it begins with, to where the search began,
        each with the number of its run."""
        found, rank = [], maker.made.rank
        while rank:
            if rank in self._nodes:
                found.append((rank[0], self._nodes[rank].step.op))
            rank = self._readers.get(rank, ())
        return found

    def bad(self, inputs: Sequence[Any]) -> Masks:
        """Which elements of which operands are wrong."""
        found = ((k, self._wrong_in(x)) for k, x in enumerate(inputs))
        return {k: mask for k, mask in found if mask is not None}

    # -- one step ------------------------------------------------------------------------------

    def _look(self, node: _Node, rank: Rank) -> None:
        step = node.step
        if step.iteration is not None:
            self._into_loop(node, rank)
            return
        inputs = self._again.inputs(node.ran, step)
        bad = self.bad(inputs)
        if step.op.type == "IterationValue":
            self._into_trace(node, int(inputs[1]), rank)
        elif branch_of(step.op.type) == "merge":
            self._back(node, {k: m for k, m in bad.items() if _is_taken(node, k)}, rank)
        elif not bad:
            self._without_wrong_operands(node, inputs, rank)
        else:
            self._try(node, inputs, bad, rank)

    def _try(self, node: _Node, inputs: Sequence[Any], bad: Masks, rank: Rank) -> None:
        asked = {k: m for k, m in node.asked.items() if m is not None}
        if not asked or not self._again.can_run(node.step):
            self._back(node, bad, rank)
            return
        trial = Trial(self._again, node.step, inputs, bad, asked, self.wrong)
        self._blame(node, {k: mask for k, mask in trial.own.items() if np.count_nonzero(mask)})
        self._back(node, trial.mattering(), rank)

    def _without_wrong_operands(self, node: _Node, inputs: Sequence[Any], rank: Rank) -> None:
        """It made them, or took them out of a queue, an array, a stack: then who filled that."""
        states = {k: None for k, x in enumerate(inputs) if isinstance(x, OpaqueState)}
        before = [source(node.ran, node.step.reads[k]) for k in states]
        if not any(isinstance(found, Made) for found in before):
            self._blame(node, {k: m for k, m in node.asked.items() if m is not None})
        self._back(node, states, rank)

    def _blame(self, node: _Node, masks: Masks) -> None:
        self.makers += [Maker(Made(node.ran, node.number, k), m) for k, m in masks.items()]

    # -- from a step to those before it ---------------------------------------------------------

    def _back(self, node: _Node, masks: dict[int, Any], rank: Rank) -> None:
        """To what made some of its operands."""
        for index, mask in masks.items():
            self._follow(RecordedValue(node.ran, node.step.reads[index]), mask, rank)

    def _follow(self, value: RecordedValue, mask: np.ndarray | None, reader: Rank) -> None:
        """Look at the step that made a value, when its turn comes."""
        made = origin(value, self._is_wrong)
        self._readers.setdefault(made.rank, reader)
        if isinstance(made, Given):
            if mask is not None:
                self.makers.append(Maker(made, mask))
            return
        if mask is not None and (given := self._again.given(made.ran, made.index)) is not None:
            if (mask & given).any():
                by_hand = Given(made.ran, made.index, "changed", made.step)
                self.makers.append(Maker(by_hand, mask & given))
            mask = mask & ~given
            if not mask.any():
                return
        if made.rank not in self._nodes:
            self._nodes[made.rank] = _Node(made.ran, made.step, {})
            heapq.heappush(self._heap, tuple(-n for n in made.rank))
        asked = self._nodes[made.rank].asked
        known = asked.get(made.output)
        asked[made.output] = mask if known is None or mask is None else known | mask

    def _into_loop(self, node: _Node, rank: Rank) -> None:
        """To what the last iteration made of the loop variables, or wrote to other variables."""
        loop = LoopRan(node.ran, node.number)
        last = loop.iteration(max(loop.count - 1, 0))
        carried = len(loop.of.results)
        for output, mask in node.asked.items():
            if output > carried:
                name = loop.of.written[output - carried - 1]
                versions = last.plan.versions[name]
                self._follow(RecordedValue(last, versions[-1], versions[0]), mask, rank)
            elif output < carried:
                value = loop.result(last.number, output) if loop.count else loop.read(output)
                self._follow(value, mask, rank)

    def _into_trace(self, node: _Node, number: int, rank: Rank) -> None:
        """From the way back to what an iteration of the way there computed."""
        self._follow(read_iteration_value(node.ran, node.step, number), node.asked[0], rank)

    # -- values ---------------------------------------------------------------------------------

    def _array(self, ran: Ran, index: int) -> Any:
        return self._again.array(ran.held(index))

    def _is_wrong(self, held: Any) -> bool:
        return self._wrong_in(self._again.array(held)) is not None

    def _wrong_in(self, x: Any) -> np.ndarray | None:
        """Which elements are wrong; None where none is."""
        if not isinstance(x, np.ndarray) or kind_of(x.dtype) not in "fc":
            return None
        mask = self.wrong(x)
        return mask if np.count_nonzero(mask) else None


def _is_taken(node: _Node, index: int) -> bool:
    """Whether a Merge took this one of its inputs."""
    guard = node.step.guard
    return guard is None or not guard.inputs or holds(guard.inputs[index], node.ran.held)
