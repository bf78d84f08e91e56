"""Gradients of one loss that differ in size by so much that no learning rate suits all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.recorded_tensors import RecordedTensors, recorded
from gradstep.core.debug.history.frozen_program import name_of
from gradstep.core.graph.model import TensorRef

_APART = 1e4
_DESCENTS = ("ApplyGradientDescent", "ApplyMomentum")
_Losses = tuple[TensorRef, ...]
_Sizes = dict[TensorRef, float]


def find_gradients_apart(x: Examined) -> Iterator[Finding]:
    """Of weights that plain gradient descent trains with the same losses, by the root mean square
    of an element. Adam and its like make every step as large as the last; a bias before a
    normalisation has a gradient of 0 but for rounding; and what is 0 is no matter of size."""
    runs = recorded(x)
    for one in x.program.derived if runs.last >= 0 else ():
        descended = (ref for ref in one.request.wrt if _is_descended(x, ref))
        found = {ref: _size(x, runs, one.gradients.get(ref)) for ref in descended}
        sizes = {ref: size for ref, size in found.items() if size}
        for losses, group in _by_losses(x, one.of, sizes).items():
            if max(group.values()) > _APART * min(group.values()):
                yield _finding(name_of(losses), group, runs.last)


def _by_losses(x: Examined, of: _Losses, sizes: _Sizes) -> Mapping[_Losses, _Sizes]:
    """The variables that the same of these losses are computed from, together: networks that are
    differentiated at once may have nothing to do with each other."""
    behind = {loss: x.sources([loss.op]) for loss in of}
    found: dict[_Losses, _Sizes] = {}
    for ref, size in sizes.items():
        losses = tuple(loss for loss, names in behind.items() if ref.op in names)
        found.setdefault(losses, {})[ref] = size
    return found


def _is_descended(x: Examined, ref: TensorRef) -> bool:
    """Whether it is a matrix, or more, that is moved by the gradient times the learning rate."""
    movers = [x.graph[name].type for name in x.moved.get(ref.op, ())]
    return len(x.shape(ref) or ()) > 1 and any(type.endswith(_DESCENTS) for type in movers)


def _size(x: Examined, runs: RecordedTensors, gradient: TensorRef | None) -> float:
    value = None if gradient is None else runs.value(x, gradient)
    if value is None or not value.size or not np.isfinite(value).all():
        return 0.0
    return float(np.sqrt(np.mean(np.square(np.abs(value).astype(np.float64)))))


def _finding(loss: str, sizes: _Sizes, run: int) -> Finding:
    least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    text = (
        f"in run {run + 1} an element of d{loss}/d{most.short} is {sizes[most]:.2g} on average, "
        f"and one of d{loss}/d{least.short} {sizes[least]:.2g}: {sizes[most] / sizes[least]:.1g} "
        "times less. One learning rate is too large for the one or much too small for the other"
    )
    fix = (
        "see where it grows or shrinks on the way (why, in the Gradients panel); normalise between "
        "the layers, scale the inputs, or draw other weights"
    )
    return Finding(least.op, text, fix)
