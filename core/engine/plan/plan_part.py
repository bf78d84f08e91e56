"""The plan of a part of what another plan does, as compiling it from nothing gives it.

Where an edit leaves most of a graph waiting, what can still run is what the plan before did, in the
same order, on other numbers of values; nothing has to be found out about its operations again.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, compress, count
from operator import attrgetter, is_, lt
from typing import TYPE_CHECKING

from gradstep.core.engine.plan.pruning import Needed
from gradstep.core.engine.plan.step_builder import Resolver, Whereabouts
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.persistent.overlaid_mapping import look_up

if TYPE_CHECKING:
    from gradstep.core.engine.plan.execution_plan import Plan

_OPERATION, _READS = attrgetter("op"), attrgetter("reads")
_COUNTER = attrgetter("counter")


class PartResolver(Resolver):
    """See Resolver. Of the same operations on the same feeds all types are the same."""

    def take(self, whole: Plan, needed: Needed) -> bool:
        """Append the steps that execute what is needed, if all of them are steps of `whole` that
        mean here what they mean there; else nothing is of use that was appended."""
        if not _is_plain(whole) or [*whole.types.fed.items()] != [*self.types.fed.items()]:
            return False
        names, step_of = needed.names, whole.step_of
        places = [place for place in map(step_of.get, names) if place is not None]
        steps = [*map(tuple(whole.steps).__getitem__, places)]
        same = len(steps) == len(names) and all(map(lt, places, places[1:]))
        if not same or not all(map(is_, map(_OPERATION, steps), needed.operations)):
            return False
        try:
            self.types.settle(needed.operations)
        except GradstepError:
            return False
        made = self._declare_all(whole, steps)
        numbers = dict(zip(chain(whole.fed, made), count()))
        # What somebody reads whose maker is not needed would be an older version here.
        if not numbers.keys() >= {*chain.from_iterable(map(_READS, steps))}:
            return False
        self.values = [*self.values, *map(tuple(whole.values).__getitem__, made)]
        self.steps = [_numbered(step, numbers) for step in steps]
        for name, there in zip(names, look_up(whole.tensors.of, names), strict=True):
            if there is not None:
                self.where[name] = _where(there, numbers)
        for name in self.variables:
            self.versions[name] = [numbers[v] for v in whole.versions[name] if v in numbers]
        return True

    def _declare_all(self, whole: Plan, steps: list[Step]) -> list[int]:
        """Note the variables of these steps; the values of `whole` that are needed, in the order in
        which their steps would bring them."""
        there, made = whole.variables, list[int]()
        counting = compress(there, map(_COUNTER, there.values()))
        counters = {there[name].op: name for name in counting}
        for step in steps:
            op = step.op.name
            for name in (op, counters[op]) if op in counters else (op,):
                if name in there:
                    self.variables[name] = there[name]
                    made.append(whole.versions[name][0])
            made += step.writes
        return made


def _is_plain(whole: Plan) -> bool:
    """Whether nothing fails, and no pass has changed it; nor is anything a loop, or may be dead."""
    others = whole.branches or whole.kernels or whole.blocked or whole.elsewhere or whole.rounding
    return whole.is_plain and not others


def _where(there: Whereabouts, numbers: Mapping[int, int]) -> Whereabouts:
    if len(there) == 1 and isinstance(there[0], str):  # a variable: nearly all there are
        return there
    return tuple([numbers[x] if isinstance(x, int) else x for x in there])


def _numbered(step: Step, numbers: Mapping[int, int]) -> Step:
    """A step on other numbers of values; one that has to do with none is the very same."""
    if not step.reads and not step.writes:
        return step
    reads, writes = (tuple(map(numbers.__getitem__, x)) for x in (step.reads, step.writes))
    return Step(step.op, step.definition, reads, writes, step.computes, step.plain)
