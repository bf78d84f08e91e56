"""Why a value is zero: the operation that made it, or took it from an operand that is to blame.

An operand is to blame where another value of it, all else as it was, would have given another
result. Where all that is there is zero, the zero is followed back to where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradstep.core.checks.why.element_dependence import Element
from gradstep.core.checks.why.explanation_words import Index, broadcast_index
from gradstep.core.checks.why.nonfinite_value import Origin
from gradstep.core.checks.why.operand_probes import others, without_zeros
from gradstep.core.checks.why.recorded_values import (
    Given,
    LoopRan,
    Made,
    RecordedValue,
    origin,
    read_iteration_value,
    source,
)
from gradstep.core.checks.why.step_on_other_inputs import Again, by_place
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import branch_of

KIND = "zero"
_MOST = 10_000  # operations that a zero is followed through

_OF_DATA = ("T", "Tparams", "SrcT")  # attributes that tell the type of what a result is made of

Place = tuple[RecordedValue, Index]


def zero_origins(again: Again, value: RecordedValue, index: Index) -> list[Origin]:
    """What made element `index` of `value` zero; where that is an operand of an operation whose
    other operands are not zero, what made this zero, and so on to the first."""
    chain: list[Origin] = []
    place: Place | None = (value, index)
    while place is not None and len(chain) < _MOST:
        found = _nearest(again, *place)
        chain.append(found)
        place = _operand(found)
    return chain


def find_telling_element(again: Again, value: RecordedValue) -> Index:
    """The element of a value, zero throughout, that tells most of why: of an operation that works
    place by place, the first at which the fewest operands are zero; else the first."""
    array: np.ndarray = again.array(value.ran.held(value.index))
    made = source(value.ran, value.index)
    first: Index = (0,) * array.ndim
    if not isinstance(made, Made) or not array.size:
        return first
    step = made.ran.plan.steps[made.step]
    inputs = [x for x in again.inputs(made.ran, step) if isinstance(x, np.ndarray)]
    if not by_place(step) or not inputs:
        return first
    zero = sum(np.broadcast_to(x == 0, array.shape).astype(int) for x in inputs)
    least = np.min(zero, where=zero > 0, initial=len(inputs) + 1)
    found = np.argwhere(zero == least)
    return tuple(int(i) for i in found[0]) if len(found) else first


def _nearest(again: Again, value: RecordedValue, index: Index) -> Origin:
    """What is to blame, or at least stands where the zero cannot be followed any more."""
    for _ in range(_MOST):
        made = origin(value, _is_zero_at(again, index))
        if isinstance(made, Given):
            return Origin(made, index, made.kind, KIND)
        given = again.given(made.ran, made.index)
        if given is not None and given[index]:
            by_hand = Given(made.ran, made.index, "changed", made.step)
            return Origin(by_hand, index, "changed", KIND)
        passed = _passed_on(again, made)
        found = _looked_at(again, made, index) if passed is None else (passed, index)
        if isinstance(found, Origin):
            return found
        value, index = found
    return Origin(made, index, "at_zero", KIND)


def _is_zero_at(again: Again, index: Index) -> Callable[[Any], bool]:
    """Whether something held is zero there."""

    def holds(held: Any) -> bool:
        x = again.array(held)
        fits = isinstance(x, np.ndarray) and broadcast_index(x.shape, index) == index
        return fits and kind_of(x.dtype) in "biufc" and not x[index]

    return holds


def _passed_on(again: Again, made: Made) -> RecordedValue | None:
    """The value that a step gives as it is: a loop's last, that of a branch, of an iteration."""
    ran, step = made.ran, made.ran.plan.steps[made.step]
    if step.iteration is not None:
        loop, carried = LoopRan(ran, made.step), step.iteration.results
        if made.output >= len(carried):
            return None
        return loop.result(loop.count - 1, made.output) if loop.count else loop.read(made.output)
    if step.op.type == "IterationValue":
        return read_iteration_value(ran, step, int(again.array(ran.held(step.reads[1]))))
    if branch_of(step.op.type) == "switch":
        return RecordedValue(ran, step.reads[0])
    if branch_of(step.op.type) == "merge" and step.guard is not None and made.output == 0:
        taken = zip(step.reads, step.guard.inputs, strict=False)
        return next((RecordedValue(ran, i) for i, when in taken if holds(when, ran.held)), None)
    return None


def _looked_at(again: Again, made: Made, index: Index) -> Origin | Place:
    """What is to blame at a step, or the operand that its zero comes from."""
    step = made.ran.plan.steps[made.step]
    inputs = tuple(again.inputs(made.ran, step))
    if not again.can_run(step) or not step.reads:
        cause = "constant" if step.op.type == "Const" else "at_zero"
        return Origin(made, index, cause, KIND, inputs=inputs)
    element = Element(again, step, inputs, made.output, index)

    def blamed(cause: str, operand: int | None = None) -> Origin:
        there = None if operand is None else element.zero_of(operand)
        return Origin(made, index, cause, KIND, operand, inputs, there)

    chooser = element.chooser()
    if chooser is not None:
        return blamed("not_chosen", chooser)
    alone = [k for k in element.zeros if element.follows([k], without_zeros)]
    if not alone and not element.follows(element.zeros, without_zeros):
        return blamed(*_made_here(step, inputs, element))
    # Of several, that which is zero in most places: it alone would make the others zero as well.
    operand = max(alone or element.zeros, key=lambda k: float(np.mean(inputs[k] == 0)))
    data = [k for k in element.operands if not _is_drawn(made, k)]  # constants are factors
    if element.undoes(operand, data) if alone else _is_mask(operand, data, inputs):
        return blamed(_killing(step), operand)
    there = element.zero_of(operand)
    assert there is not None
    return RecordedValue(made.ran, step.reads[operand]), there


def _is_mask(operand: int, others: Sequence[int], inputs: Sequence[Any]) -> bool:
    """Whether an operand is zero throughout, and another one only here."""
    return not inputs[operand].any() and any(inputs[k].any() for k in others)


def _is_drawn(made: Made, operand: int) -> bool:
    """Whether an operand is a constant."""
    plan = made.ran.plan
    maker = plan.maker(plan.steps[made.step].reads[operand])
    return maker is not None and maker.op.type == "Const"


def _killing(step: Step) -> str:
    """What a zero operand is that undoes the others."""
    extreme = step.definition is not None and step.definition.causes.flat == "not_extreme"
    return "not_extreme" if extreme else "zero_factor"


def _made_here(step: Step, inputs: Sequence[Any], element: Element) -> tuple[str, int | None]:
    """What an operation does that makes 0 of numbers that are not; the operand that says so."""
    definition = step.definition
    assert definition is not None
    if any(isinstance(x, np.ndarray) and x.size == 0 for x in inputs):
        return "empty", None
    for k in element.operands:
        whole = kind_of(inputs[k].dtype) in "iu"
        if whole and _is_index(step, k) and element.follows([k], others):
            return "out_of_range" if "gather" in definition.family else "not_chosen", k
    if element.is_tiny():
        return "underflow", None
    vanishes = definition.causes.vanishes
    if vanishes == "underflow" and _are_whole(inputs[k] for k in element.operands):
        return "rounded" if definition.family == "division" else "wrapped", None
    adds = definition.arithmetic in ("reducing", "product")
    return vanishes or ("cancelled" if adds else "at_zero"), None


def _are_whole(arrays: Iterable[np.ndarray]) -> bool:
    return all(kind_of(x.dtype) in "iu" for x in arrays)


def _is_index(step: Step, operand: int) -> bool:
    """Whether an operand says which elements of another are taken, or go where:
    its type is its own."""
    definition = step.definition
    if definition is None or operand >= len(step.op.inputs):
        return False
    name = definition.arity(len(step.op.inputs))[operand].partition("[")[0]
    spec = next(spec for spec in definition.inputs if spec.name == name)
    own = {x for attr, x in definition.type_attrs.items() if attr not in _OF_DATA}
    return bool(own & {spec.name, spec.like})


def _operand(found: Origin) -> Place | None:
    """The element of an operand that is to blame, where it is zero itself."""
    made, k, there = found.made, found.operand, found.operand_index
    if not isinstance(made, Made) or k is None or there is None or found.inputs[k][there]:
        return None
    return RecordedValue(made.ran, found.step.reads[k]), there
