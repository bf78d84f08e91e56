"""Bound calls of steps that may be dead: made only where they are alive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.core.engine.calls.call_loop import Call, do_nothing
from gradstep.core.engine.plan.liveness_conditions import Condition, test_of
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.engine.plan.execution_plan import Plan


class Guarded:
    """`call`, made where `alive` says so; elsewhere `instead`."""

    __slots__ = ("alive", "call", "instead")

    def __init__(self, alive: Callable[[], bool], call: Call, instead: Call) -> None:
        self.alive, self.call, self.instead = alive, call, instead

    def __call__(self) -> None:
        if self.alive():
            self.call()
        else:
            self.instead()


class Unchanged:
    """What an update that is dead does: each new version of a variable is the one before.

    versions: pairs of the new one and the one before; absent: versions that hold no value, to
    which those are added that turn out to be such.
    """

    __slots__ = ("absent", "cells", "fixed", "versions")

    def __init__(
        self,
        versions: Sequence[tuple[int, int]],
        cells: list[Any],
        fixed: Sequence[int],
        absent: set[int],
    ) -> None:
        self.versions, self.cells, self.fixed, self.absent = versions, cells, fixed, absent

    def __call__(self) -> None:
        cells = self.cells
        for new, old in self.versions:
            if cells[old] is None or old in self.absent:
                self.absent.add(new)
            elif not self.fixed[new]:
                cells[new] = cells[old]
            elif cells[new] is not cells[old]:
                cells[new][...] = cells[old]


class Choice:
    """The kernel of a Merge: the first of its inputs that is alive, and which it is."""

    __slots__ = ("alive",)

    def __init__(self, inputs: Sequence[Condition], cells: list[Any]) -> None:
        self.alive = [test_of(condition, cells) for condition in inputs]

    def __call__(self, *inputs: Any) -> tuple[Any, Any]:
        number = self.number()
        return inputs[number], np.int32(number)

    def number(self) -> int:
        """Which input it is."""
        return next(i for i, alive in enumerate(self.alive) if alive())


class Merging:
    """The call of a Merge whose inputs and outputs stay where they are."""

    __slots__ = ("choice", "index", "inputs", "place")

    def __init__(self, choice: Choice, inputs: list[Any], outputs: list[Any]) -> None:
        self.choice, self.inputs = choice, inputs
        self.place, self.index = outputs

    def __call__(self) -> None:
        self.index[...] = number = self.choice.number()
        self.place[...] = self.inputs[number]


class Checked:
    """`call`, which reads variables; `error` where one of them turned out to hold no value."""

    __slots__ = ("absent", "call", "error", "reads")

    def __init__(
        self, call: Call, reads: Sequence[int], absent: set[int], error: GradstepError
    ) -> None:
        self.call, self.reads, self.absent, self.error = call, reads, absent, error

    def __call__(self) -> None:
        if not self.absent.isdisjoint(self.reads):
            raise self.error.with_traceback(None)
        self.call()


def guard_call(
    plan: Plan, step: Step, call: Call, cells: list[Any], fixed: Sequence[int], absent: set[int]
) -> Call:
    """`call` of `step`, which may be dead. What it would have written to variables stays as it
    was; absent: see Unchanged."""
    assert step.guard is not None
    versions = [*new_versions(plan, step)]
    if call is do_nothing and not versions:
        return do_nothing
    instead = Unchanged(versions, cells, fixed, absent) if versions else do_nothing
    return Guarded(test_of(step.guard.when, cells), call, instead)


def new_versions(plan: Plan, step: Step) -> Iterator[tuple[int, int]]:
    """The versions of variables that `step` makes, each with the one before."""
    for value in step.writes:
        if name := plan.values[value].variable:
            yield value, plan.newest(name, plan.made_by[value])
