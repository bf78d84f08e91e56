"""What Adam and its like do that gradients alone do not say: steps by memory, steps by epsilon."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.finding_words import share
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.recorded_tensors import RecordedTensors, executed, named_input
from gradstep.core.graph.model import Operation, TensorRef

_ADAM = ("ApplyAdam", "ResourceApplyAdam")
_WITH_MEMORY = (
    *_ADAM,
    "ApplyMomentum",
    "ResourceApplyMomentum",
    "ApplyRMSProp",
    "ResourceApplyRMSProp",
)
_FROZEN = 0.25  # share of a variable's elements
_STRONG = 0.1  # of what the others move
_MOST = 0.5
_BEFORE = 4  # runs
_MATRIX = 2  # axes
_ROUNDED = 1e-6  # of the largest gradient: what float32 leaves of a sum that is 0
# How the types of what adds up over the rows of a batch begin.
_OVER_ROWS = ("Sum", "Mean", "BiasAddGrad", "MatMul", "BatchMatMul", "Conv", "Depthwise", "Einsum")


def find_moved_by_memory(x: Examined) -> Iterator[Finding]:
    """Elements whose gradient is exactly 0 and that are moved all the same, nearly as far as
    others, in the last run in which that was so: who masks a gradient to freeze weights finds them
    elsewhere."""
    for op, runs in executed(x, _WITH_MEMORY):
        for run in (runs.last, *runs.earlier()):
            step = _step_without_gradient(x, op, runs, run)
            if step is not None:
                yield _moved(op, step, run)
                break


def _step_without_gradient(
    x: Examined, op: Operation, runs: RecordedTensors, run: int
) -> np.ndarray | None:
    """How far each element was moved in that run whose gradient was 0, and 0 of all others; None
    where these are few."""
    variable, gradient = op.inputs[0], named_input(op, "grad")
    if variable is None or gradient is None:
        return None
    zero = _zeros(runs.value(x, gradient, run))
    if zero is None or not zero.size or zero.mean() < _FROZEN:
        return None
    before = _copied(runs.value(x, variable, run, begin=True))
    after = _copied(runs.value(x, variable, run))
    if before is None or after is None or before.shape != zero.shape:
        return None
    step = np.abs(after - before)
    others = float(np.median(step[~zero])) if (~zero).any() else 0.0
    by_rounding = _rounded(x, gradient, runs, run)
    if by_rounding is not None:
        zero = zero & ~by_rounding
    by_data = _zero_for_all_rows(x, gradient, runs, run)
    if by_data is not None:
        zero = zero & ~by_data
    moved = np.where(zero & (step > _STRONG * others), step, 0.0)
    return moved if (moved > 0).mean() >= _FROZEN else None


def _rounded(
    x: Examined, gradient: TensorRef, runs: RecordedTensors, run: int
) -> np.ndarray | None:
    """The elements whose gradient was rounding in the runs before: what moves them is no memory of
    something that was learned. None where nothing before is kept."""
    numbers = [n for n in runs.earlier() if n < run][:_BEFORE]
    found = [_copied(runs.value(x, gradient, n)) for n in numbers]
    before = [np.abs(value) for value in found if value is not None]
    if not before:
        return None
    largest = np.max(before, axis=0, initial=0.0)
    others = (named_input(op, "grad") for op, _ in executed(x, _WITH_MEMORY))
    sizes = [_size(runs.value(x, ref, run)) for ref in others if ref is not None]
    return np.asarray(largest < _ROUNDED * max(sizes, default=0.0))


def _zero_for_all_rows(
    x: Examined, gradient: TensorRef, runs: RecordedTensors, run: int
) -> np.ndarray | None:
    """The elements whose gradient was 0 already when it was summed over the rows of the batch:
    those of units that gave nothing, which nobody asked to stand still. None where the gradient
    comes from no such sum by operations that keep its shape, as a mask does."""
    shape, waiting, seen = x.shape(gradient), [gradient], set[TensorRef]()
    while waiting:
        ref = waiting.pop()
        maker = x.maker(ref)
        if ref in seen or maker is None or x.shape(ref) != shape:
            continue
        seen.add(ref)
        if maker.type.startswith(_OVER_ROWS):
            return _zeros(runs.value(x, ref, run))
        waiting += [each for each in maker.inputs if each is not None]
    return None


def _size(value: np.ndarray | None) -> float:
    """The largest number in it."""
    return 0.0 if value is None else float(np.abs(value).max(initial=0.0))


def _moved(op: Operation, step: np.ndarray, run: int) -> Finding:
    variable = op.inputs[0]
    assert variable is not None
    few = share(int((step > 0).sum()), step.size)
    text = (
        f"in run {run + 1}, {few} of the elements of {variable.op} have a gradient of exactly 0, "
        f"and {op.type.removeprefix('Resource')} moves them by up to {step.max():.2g}, from what "
        "it remembers of gradients before"
    )
    fix = (
        "to freeze them, mask the update and not the gradient, or leave the variable out of the "
        "var_list and set its slots to 0"
    )
    return Finding(variable.op, text, fix, "info")


def find_ruling_epsilons(x: Examined) -> Iterator[Finding]:
    """Adam divides by sqrt(v) + epsilon: where epsilon is the larger one, its steps shrink with the
    gradient, and it is plain gradient descent with momentum. The gradient of a bias before a
    normalisation is 0 but for rounding, which is no matter of size."""
    roots = [(op, *found) for op, runs in executed(x, _ADAM) if (found := _root(x, op, runs))]
    largest = max((float(root.max()) for _, root, _ in roots), default=0.0)
    for op, root, epsilon in roots:
        variable = op.inputs[0]
        assert variable is not None
        if len(x.shape(variable) or ()) < _MATRIX:
            root = root[root > _ROUNDED * largest]
        if not root.size or (root < epsilon).mean() < _MOST:
            continue
        middle = float(np.median(root))
        text = (
            f"Adam's epsilon, {epsilon:g}, is larger than the gradients of {variable.op}: "
            f"the root of their mean square is {middle:.2g} in the median. It "
            f"divides by epsilon then, so steps are {epsilon / middle:.2g} times "
            "smaller than the learning rate says"
        )
        fix = "scale the loss up, or make epsilon smaller"
        yield Finding(variable.op, text, fix)


def _root(x: Examined, op: Operation, runs: RecordedTensors) -> tuple[np.ndarray, float] | None:
    """The roots of v, without its beginning with 0, of the elements that ever had a gradient; and
    epsilon."""
    inputs = (named_input(op, name) for name in ("v", "beta2_power", "epsilon"))
    v, power, epsilon = (None if ref is None else _copied(runs.value(x, ref)) for ref in inputs)
    if v is None or power is None or epsilon is None:
        return None
    root = np.sqrt(v / max(1 - float(power), 1e-12))
    some = root[root > 0]
    return (some, float(epsilon)) if some.size else None


def _zeros(value: np.ndarray | None) -> np.ndarray | None:
    """Where it is 0: a copy, as the next value that is read may take its place."""
    return None if value is None else np.asarray(value == 0)


def _copied(value: np.ndarray | None) -> np.ndarray | None:
    """In float64, for the same reason."""
    return None if value is None else value.astype(np.float64)
