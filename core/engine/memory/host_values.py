"""Which values of a loop's iteration lie on the host, whatever the device: counters, conditions.

What only says how far, how often and where is read on the host in the end. A device would be asked
for it in every iteration, and answers when it has done all else that it was given to do; NumPy has
added one to a counter sooner than a device was told to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradstep.core.engine.calls.op_evaluation import host_inputs
from gradstep.core.engine.plan.loop_body import Iteration
from gradstep.core.engine.plan.steps import PlanValue, Step, has_place, makes_constants
from gradstep.core.graph.dtypes import DType

_MOST = 64  # elements


def host_values(iteration: Iteration) -> frozenset[int]:
    """Those that are read on the host, and what they are made of: short values of whole numbers
    and booleans, as far back as they are made of such alone."""
    able, wanted = _able(iteration), set[int]()
    makers = {value: step for step in iteration.plan.steps for value in step.writes}
    found = [*_read_on_host(iteration)]
    while found:
        value = found.pop()
        if value in able and value not in wanted:
            wanted.add(value)
            maker = makers.get(value)
            found += () if maker is None else (*maker.reads, *maker.writes)
            found += _carried_with(iteration, value)
    return frozenset(wanted)


def reads_on_host(step: Step) -> frozenset[int]:
    """The numbers of the inputs that its kernel reads on the host."""
    if step.definition is None or step.iteration is not None or step.times > 1:
        return frozenset()
    return host_inputs(step.definition, len(step.op.inputs))


def inputs_on_host(iteration: Iteration, found: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Number of an input of the loop -> the value among `found` that it is in an iteration."""
    plan = iteration.plan
    for ref, number in iteration.fed.items():
        if plan.tensors[ref] in found:
            yield number, int(plan.tensors[ref])
    for name, number in iteration.started.items():
        if plan.versions[name][0] in found:
            yield number, plan.versions[name][0]


def _read_on_host(iteration: Iteration) -> Iterator[int]:
    yield iteration.cond
    for step in iteration.plan.steps:
        yield from (step.reads[n] for n in reads_on_host(step) if n < len(step.reads))


def _carried_with(iteration: Iteration, value: int) -> Iterator[int]:
    """What `value` is in the next iteration, or was in the one before."""
    for pair in zip(iteration.carried, iteration.results, strict=True):
        if value in pair:
            yield from pair


def _able(iteration: Iteration) -> set[int]:
    """The values that can lie there: what makes them needs nothing else, in all iterations."""
    found = _candidates(iteration)
    steps = [step for step in iteration.plan.steps if not found.isdisjoint(step.writes)]
    while True:
        made = (step.writes for step in steps if not _can_work_on_host(iteration, step, found))
        gone = {value for writes in made for value in writes}
        for first, result in zip(iteration.carried, iteration.results, strict=True):
            if first not in found or result not in found:
                gone |= {first, result}
        if found.isdisjoint(gone):
            return found
        found -= gone


def _candidates(iteration: Iteration) -> set[int]:
    """Short values, but for constants, which are on either side, and for versions of variables
    that are not carried round."""
    plan = iteration.plan
    carried = {i for i in iteration.carried if len(plan.versions[plan.values[i].variable]) == 1}
    return {
        i
        for i, value in enumerate(plan.values)
        if _is_short(value)
        and (not value.variable or i in carried)
        and not _is_constant(iteration, i)
    }


def _can_work_on_host(iteration: Iteration, step: Step, found: set[int]) -> bool:
    """Whether the step gives nothing but `found`, and needs nothing but that, constants, and what
    an earlier loop has kept."""
    if not step.computes or step.definition is None or not found.issuperset(step.writes):
        return False
    if step.iteration is not None or step.times > 1 or (step.guard and step.guard.inputs):
        return False
    if step.op.type == "IterationValue":
        return step.reads[1] in found or _is_constant(iteration, step.reads[1])
    return step.definition.is_pure and all(
        value in found
        or (_is_constant(iteration, value) and _is_short(iteration.plan.values[value]))
        for value in step.reads
    )


def _is_short(value: PlanValue) -> bool:
    """Whether it is known to be few whole numbers or booleans."""
    if not has_place(value) or value.type.dtype.numpy.kind not in "iub":
        return False
    return value.type.dtype is not DType.RESOURCE and math.prod(value.type.shape.static()) <= _MOST


def _is_constant(iteration: Iteration, value: int) -> bool:
    maker = iteration.plan.made_by[value]
    if maker < 0:
        return False
    step = iteration.plan.steps[maker]
    return step.computes and makes_constants(step.op, step.definition)
