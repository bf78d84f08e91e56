"""Which values of a plan lie on the host, whatever the device: shapes, counters, bfloat16.

What only says how far, how often and where is read on the host in the end. A device would be asked
for it at each reader, and in every iteration of a loop, and answers when it has done all else that
it was given to do; NumPy has added one to a counter sooner than a device was told to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gradstep.core.engine.calls.op_evaluation import host_inputs
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.loop_body import Iteration
from gradstep.core.engine.plan.steps import PlanValue, Step, has_place, makes_constants
from gradstep.core.graph.dtypes import DType

Pairs = Sequence[
    tuple[int, int]
]  # what is carried round: its value, and that in the next iteration

OF_SIZES = frozenset({"Shape", "ShapeN", "Size", "Rank"})  # they look at no element
_MOST = 64  # elements


def host_values(plan: Plan, has_bfloat16: bool = False) -> frozenset[int]:
    """Those that are read on the host, and what they are made of: short values of whole numbers
    and booleans, as far back as they are made of such alone, or of sizes; what has to be asked
    while it is computed, where it is made of such; and bfloat16 where the device has none."""
    wanted = _wanted(plan, _asked_on_host(plan), _able(plan, _candidates(plan, ())), ())
    return wanted if has_bfloat16 else wanted | short_values(plan)


def short_values(plan: Plan) -> frozenset[int]:
    """Those of bfloat16, which not every device has: they are computed where they lie."""
    values = enumerate(plan.values)
    return frozenset(i for i, value in values if value.type.dtype is DType.BFLOAT16)


def iteration_host_values(iteration: Iteration, has_bfloat16: bool = False) -> frozenset[int]:
    """The same of an iteration of a loop, whose condition is read there too, and which is given
    what it is given from either side."""
    pairs = [*zip(iteration.carried, iteration.results, strict=True)]
    able = _candidates(iteration.plan, (*iteration.carried, *iteration.plan.fed))
    able = _able(iteration.plan, able, pairs)
    read = [iteration.cond, *_asked_on_host(iteration.plan)]
    wanted = _wanted(iteration.plan, read, able, pairs)
    return wanted if has_bfloat16 else wanted | short_values(iteration.plan)


def reads_on_host(step: Step) -> frozenset[int]:
    """The numbers of the inputs that its kernel reads on the host, or does not look into."""
    if step.op.type in OF_SIZES:
        return frozenset(range(len(step.reads)))
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


def _wanted(plan: Plan, first: Sequence[int], able: set[int], pairs: Pairs) -> frozenset[int]:
    """What of `able` is among `first`, or what that is made of, or it in another iteration."""
    found, wanted = [*first], set[int]()
    while found:
        value = found.pop()
        if value in able and value not in wanted:
            wanted.add(value)
            maker = plan.made_by[value]
            if maker >= 0:
                found += (*plan.steps[maker].reads, *plan.steps[maker].writes)
            for pair in pairs:
                found += pair if value in pair else ()
    return frozenset(wanted)


def _asked_on_host(plan: Plan) -> list[int]:
    """What steps read there, and what they make while they ask: a division does, whether it is one
    by 0, and the host divides sizes sooner than it hears that none is."""
    steps = [step for step in plan.steps if step.op.type not in OF_SIZES]
    read = [s.reads[n] for s in steps for n in reads_on_host(s) if n < len(s.reads)]
    return [*read, *(value for s in steps if _asks(s) for value in s.writes)]


def _asks(step: Step) -> bool:
    return step.definition is not None and bool(step.definition.kernel.asks)


def _candidates(plan: Plan, given: Sequence[int]) -> set[int]:
    """Short values that steps make, and those of `given`; but for constants, which are on either
    side, and for what is written to."""
    able = {i for i in given if len(plan.versions.get(plan.values[i].variable, (0,))) == 1}
    able.update(v for step in plan.steps if not _is_constant(step) for v in step.writes)
    short = {i for i in able if _is_short(plan.values[i])}
    return {i for i in short if i in given or not plan.values[i].variable}


def _able(plan: Plan, found: set[int], pairs: Pairs = ()) -> set[int]:
    """The values of `found` that can lie there: what makes them needs nothing else, in all
    iterations."""
    steps = [step for step in plan.steps if not found.isdisjoint(step.writes)]
    while True:
        made = (step.writes for step in steps if not _can_work_on_host(plan, step, found))
        gone = {value for writes in made for value in writes}
        for pair in pairs:
            gone.update(() if found.issuperset(pair) else pair)
        if found.isdisjoint(gone):
            return found
        found = found - gone


def _can_work_on_host(plan: Plan, step: Step, found: set[int]) -> bool:
    """Whether the step gives nothing but `found`, and needs nothing but that, constants, sizes, and
    what an earlier loop has kept."""
    if not step.computes or step.definition is None or not found.issuperset(step.writes):
        return False
    if step.iteration is not None or step.times > 1 or (step.guard and step.guard.inputs):
        return False
    if step.op.type in OF_SIZES:
        return True
    reads = step.reads[1:] if step.op.type == "IterationValue" else step.reads
    pure = step.definition.is_pure or reads is not step.reads
    return pure and all(v in found or _is_short_constant(plan, v) for v in reads)


def _is_short(value: PlanValue) -> bool:
    """Whether it is known to be few whole numbers or booleans, or a list of whole numbers."""
    if value.type.dtype.numpy.kind not in "iub" or value.type.dtype.numpy.hasobject:
        return False
    if has_place(value):
        return math.prod(value.type.shape.static()) <= _MOST
    return value.type.shape.rank == 1


def _is_short_constant(plan: Plan, value: int) -> bool:
    maker = plan.made_by[value]
    return maker >= 0 and _is_short(plan.values[value]) and _is_constant(plan.steps[maker])


def _is_constant(step: Step) -> bool:
    return step.computes and makes_constants(step.op, step.definition)
