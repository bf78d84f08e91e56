"""Derivatives by a complex step: f(x + ih) = f(x) + ih f'(x), without the error of a difference.

It works where every kernel on the way computes with complex numbers as with real ones, which no
kernel promises: some refuse, some (the absolute value, a cast) drop the imaginary part. So its
caller holds the result against central differences, and takes those where the two part.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np

from gradstep.core.autodiff.check.frozen_values import Evaluate, Point, evaluate_alive
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.declare.table import OpDef, find

_STEP = 1e-20
_REFUSALS = (TypeError, ValueError, ArithmeticError, GradstepError, np.exceptions.ComplexWarning)

Kernel = Callable[..., Any]


def measure_complex_slopes(
    evaluate: Evaluate,
    graph: Graph,
    of: Sequence[TensorRef],
    x: TensorRef,
    base: Point,
    elements: Sequence[int],
) -> np.ndarray | None:
    """d(sum of `of`)/dx for the given elements (row-major) of `x`; None where a kernel on the way
    does not compute with complex numbers."""
    path = _path(graph, of, x, set(base) - {x})
    kernels = [_kernel(op) for op in path]
    if any(kernel is None for kernel in kernels):
        return None
    names = {op.name for op in path}
    sources = {r for op in path for r in op.inputs if r is not None and r.op not in names}
    known = [ref for ref in sources if ref not in base]
    real = {**base, **evaluate_alive(evaluate, graph, known, base)}
    steps = list(zip(path, kernels, strict=True))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return np.array([_slope(steps, of, x, real, element) for element in elements])
    except _REFUSALS:
        return None


def _slope(
    steps: Sequence[tuple[Operation, Any]],
    of: Sequence[TensorRef],
    x: TensorRef,
    real: Point,
    element: int,
) -> float:
    start = real[x].astype(np.complex128)
    start.flat[element] += 1j * _STEP
    values: dict[TensorRef, Any] = {**real, x: start}
    for op, kernel in steps:
        result = kernel(*[values[ref] for ref in op.inputs if ref is not None])
        for index, value in enumerate(result if isinstance(result, tuple) else (result,)):
            values.setdefault(op.output(index), value)  # what is held stays
    return float(sum(np.sum(np.imag(values[y])) for y in of if y in values)) / _STEP


def _path(
    graph: Graph, of: Sequence[TensorRef], x: TensorRef, held: Set[TensorRef]
) -> list[Operation]:
    """Operations that `x` leads to, and that lead to `of`; not through what is held."""
    needed = graph.ancestors(ref.op for ref in of)
    below: dict[str, Operation] = {}
    for name in graph.order:
        op = graph[name]
        moved = (r == x or (r.op in below and r not in held) for r in op.inputs if r is not None)
        if name in needed and name != x.op and any(moved):
            below[name] = op
    return list(below.values())


def _kernel(op: Operation) -> Kernel | None:
    """The operation's kernel with its attributes; None where it does more than compute."""
    definition = find(op.type)
    if definition is None or definition.kernel.plain is None or definition.branch:
        return None
    if definition.state.stateful:
        return None
    wanted = definition.keywords(op, {"op": op, "rules": TF_CPU})
    return _bound(definition, wanted) if len(wanted) == len(definition.kernel.keywords) else None


def _bound(definition: OpDef, wanted: dict[str, Any]) -> Kernel:
    kernel = definition.kernel.plain
    assert kernel is not None
    return lambda *inputs: kernel(np, *inputs, **wanted)
