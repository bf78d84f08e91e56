"""Which elements of an operand some elements of a step's results come from, where that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.checks.why.step_on_other_inputs import Again, Masks, at_place, by_place
from gradstep.core.engine.plan.steps import Step
from gradstep.core.ops.declare.axes import resolve_axes
from gradstep.core.ops.declare.host_arrays import integers

Reach = Callable[[Step, Sequence[Any], int, np.ndarray], np.ndarray]


def find_sources(
    again: Again, step: Step, inputs: Sequence[Any], index: int, asked: Masks, is_nan: bool
) -> np.ndarray | None:
    """Of operand `index` those elements that, wrong by themselves, make wrong one of the results'
    elements in `asked`: by what the op says of where its results' elements come from. None where it
    does not. is_nan: what is wrong is NaN, which no sum and no product loses."""
    definition = step.definition
    if definition is None or not asked:
        return None
    x, memory = inputs[index], definition.memory
    if by_place(step):
        found = [at_place(x, m.shape, m) for m in asked.values()]
    elif memory.keeps_bytes and index == 0:
        found = [m.reshape(x.shape) for m in asked.values() if m.size == x.size]
    elif memory.slices:
        found = _cut_out(again, step, inputs, index, asked)
    elif memory.pieces is not None:
        pieces = memory.pieces(asked[0], *inputs, **definition.keywords(step.op))
        found = [] if pieces[index] is None else [pieces[index]]
    elif is_nan and step.op.type in _REACH:
        found = [_REACH[step.op.type](step, inputs, index, asked[0])]
    else:
        return None
    if len(found) == 1:
        return found[0]
    return np.logical_or.reduce(found) if found else None


def _cut_out(
    again: Again, step: Step, inputs: Sequence[Any], index: int, asked: Masks
) -> list[np.ndarray]:
    """The step makes parts of this operand: so it does of the numbers of its elements."""
    x = inputs[index]
    numbers = np.arange(x.size).reshape(x.shape)
    results = again.run(step, [*inputs[:index], numbers, *inputs[index + 1 :]])
    if results is None:
        return []
    there = np.zeros(x.size, bool)
    for k, mask in asked.items():
        there[results[k][mask]] = True
    return [there.reshape(x.shape)]


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


_PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_REACH: Mapping[str, Reach] = {
    "Sum": _terms,
    "Mean": _terms,
    **dict.fromkeys(_PRODUCTS, _factors),
}
