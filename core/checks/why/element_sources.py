"""Which elements of an operand some elements of a step's results come from, where that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.checks.why.step_on_other_inputs import Again, Masks, at_place
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.axes import resolve_axes
from gradstep.core.ops.declare.host_arrays import integers

Reach = Callable[[Step, Sequence[Any], int, np.ndarray], np.ndarray]


def find_reaching(
    again: Again, step: Step, inputs: Sequence[Any], index: int, asked: Masks, is_nan: bool
) -> np.ndarray | None:
    """Those elements of operand `index` of which each by itself, where it is wrong, makes wrong one
    of the results' elements in `asked`; None where that has to be tried. is_nan: what is wrong is
    NaN, which no sum and no product loses."""
    definition = step.definition
    if definition is None or not asked:
        return None
    x, memory = inputs[index], definition.memory
    if is_copy(step):
        return next(iter(asked.values())).reshape(x.shape)
    if memory.slices:
        return _cut_out(again, step, inputs, index, asked)
    if memory.pieces is not None:
        pieces = memory.pieces(asked[0], *inputs, **definition.keywords(step.op))
        return np.asarray(pieces[index])
    reach = _REACH.get(step.op.type) if is_nan else None
    return None if reach is None else reach(step, inputs, index, asked[0])


def is_copy(step: Step) -> bool:
    """Whether its result is the first operand, in another shape at most."""
    return step.definition is not None and step.definition.memory.keeps_bytes


def makes_no_nan(step: Step, inputs: Sequence[Any], asked: Masks) -> bool:
    """Whether it is known without running it that there is no NaN in its result where there is none
    in what it read: that takes infinities, and two of them or a 0."""
    if step.op.type not in _FINITE:
        return False
    shapes = ((), *(m.shape for m in asked.values()))
    known = all(isinstance(x, np.ndarray) and x.shape in shapes for x in inputs)
    real = known and all(kind_of(x.dtype) == "f" for x in inputs)
    return real and not any(np.count_nonzero(np.isinf(x)) for x in inputs)


def _cut_out(
    again: Again, step: Step, inputs: Sequence[Any], index: int, asked: Masks
) -> np.ndarray | None:
    """The step makes parts of this operand: so it does of the numbers of its elements."""
    x = inputs[index]
    numbers = np.arange(x.size).reshape(x.shape)
    results = again.run(step, [*inputs[:index], numbers, *inputs[index + 1 :]])
    if results is None:
        return None
    there = np.zeros(x.size, bool)
    for k, mask in asked.items():
        there[results[k][mask]] = True
    return there.reshape(x.shape)


def _same_place(step: Step, inputs: Sequence[Any], index: int, asked: np.ndarray) -> np.ndarray:
    """Of what works place by place."""
    return at_place(inputs[index], asked.shape, asked)


def _terms(step: Step, inputs: Sequence[Any], index: int, asked: np.ndarray) -> np.ndarray:
    """Of a sum over axes."""
    x, axes = inputs[0], integers(inputs[1].reshape(-1))
    if not _attr(step, "keep_dims"):
        asked = np.expand_dims(asked, resolve_axes(axes, x.ndim))
    return np.broadcast_to(asked, x.shape)


def _factors(step: Step, inputs: Sequence[Any], index: int, asked: np.ndarray) -> np.ndarray:
    """Of products of matrices: of the first one the rows, of the second one the columns."""
    flags = ("transpose_a", "transpose_b") if step.op.type == "MatMul" else ("adj_x", "adj_y")
    shape, is_first = inputs[index].shape, index == 0
    lines = asked.any(axis=-1 if is_first else -2, keepdims=True)
    if _attr(step, flags[index]):
        lines = np.swapaxes(lines, -1, -2)
    more = lines.ndim - len(shape)
    batch = [n for n in range(lines.ndim - 2) if n < more or shape[n - more] == 1]
    lines = np.logical_or.reduce(lines, axis=tuple(batch), keepdims=True)
    return np.broadcast_to(lines.reshape(lines.shape[more:]), shape)


def _attr(step: Step, name: str) -> Any:
    assert step.definition is not None
    return step.definition.attr(step.op, name)


_ADDING = ("Add", "AddV2", "AddN", "Sub", "Neg", "Mul", "RealDiv", "Square", "SquaredDifference")
# One operation on each element, or sums of few: what is too large becomes an infinity of one sign.
_FINITE = frozenset(_ADDING) - {"RealDiv"}
_PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_REACH: Mapping[str, Reach] = {
    **dict.fromkeys(_ADDING, _same_place),
    "Sum": _terms,
    "Mean": _terms,
    **dict.fromkeys(_PRODUCTS, _factors),
}
