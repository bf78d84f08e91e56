"""Derivatives by central differences of runs of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.graph.model import Graph, Operation, TensorRef, predecessors
from gradstep.core.ops.declare.table import lookup
from tests.support.interpret import Interpreter, keywords

STEP = 1e-6
_AMOUNTS = np.random.default_rng(7).uniform(1, 2, 1009)


class Differences:
    """Of a loss, the sum of all elements of `of`, each times a weight of its own: its derivatives
    with respect to what is fed. Of a complex tensor x + iy that is d loss / dx + i d loss / dy, the
    gradient as TensorFlow means it; its weight a + ib stands for ax + by.

    weights: of the tensors of `of` that have parts, in order.
    """

    def __init__(
        self, graph: Graph, of: Sequence[TensorRef], feeds: Mapping[TensorRef | str, Any]
    ) -> None:
        interpreter = Interpreter(graph)
        with np.errstate(all="ignore"):
            values = interpreter.values(of, feeds)
        self._values = {key: interpreter.look(value) for key, value in values.items()}
        self._steps = interpreter.steps(of, feeds)
        self._weights: dict[TensorRef, np.ndarray] = {}
        number = 0
        for y in of:
            value = np.asarray(self._values[y])
            if value.dtype.kind in "fc":
                self._weights[y] = _make_weights(value, number)
                number += 2 if value.dtype.kind == "c" else 1
        self._slopes: dict[TensorRef, float] = {}

    @property
    def weights(self) -> list[np.ndarray]:
        return [*self._weights.values()]

    def gradient(self, ref: TensorRef) -> np.ndarray:
        """Two runs for each element, or part of one."""
        numeric = np.zeros_like(self._values[ref])
        nudged = self._nudged(ref)
        for part in (1, 1j) if numeric.dtype.kind == "c" else (1,):
            for place in np.ndindex(numeric.shape):
                way = np.zeros_like(numeric)
                way[place] = part
                numeric[place] += nudged.slope(way) * part
        return numeric

    def miss(self, ref: TensorRef, gradient: np.ndarray | float) -> float:
        """By how much `gradient` is wrong of a nudge to all elements at once, of each by another
        amount of one to two: in two runs, and what is wrong of any element is in it."""
        x = self._values[ref]
        way = np.resize(_AMOUNTS, x.shape)
        if x.dtype.kind == "c":
            way = way + 1j * np.resize(_AMOUNTS[1:], x.shape)
        way = way.astype(x.dtype)
        if ref not in self._slopes:
            self._slopes[ref] = self._nudged(ref).slope(way)
        return abs(self._slopes[ref] - float(np.sum(np.conj(way) * gradient).real))

    def _nudged(self, ref: TensorRef) -> _Nudged:
        return _Nudged(self._steps, self._values, self._weights, ref)


def _make_weights(value: np.ndarray, number: int) -> np.ndarray:
    """Others for each element, and for the two parts of a complex one. Of x + iy with the gradient
    a + ib, the sum has ax + by."""
    steps = 0.7 * np.arange(value.size).reshape(value.shape)
    weights = steps + (0.3 + number)
    if value.dtype.kind == "c":
        weights = weights + 1j * (weights + 1)
    return weights.astype(value.dtype)


class _Nudged:
    """Runs that differ in the value of one fed tensor: what does not depend on it is not run again,
    and what each operation calls is looked up once."""

    def __init__(
        self,
        steps: Sequence[Operation],
        values: Mapping[TensorRef, Any],
        weights: Mapping[TensorRef, np.ndarray],
        ref: TensorRef,
    ) -> None:
        self._ref, self._values = ref, values
        self._weights = {y: np.conj(w) for y, w in weights.items()}
        self._steps = []
        moving = {ref.op}
        for op in steps:
            if moving.isdisjoint(predecessors(op)):
                continue
            moving.add(op.name)
            inputs = [given for given in op.inputs if given is not None]
            self._steps.append((_first_call(op), inputs, op))

    def slope(self, way: np.ndarray) -> float:
        """d loss / dt where t times `way` is added to the tensor."""
        with np.errstate(all="ignore"):
            up, down = (self._loss(self._values[self._ref] + step * way) for step in (STEP, -STEP))
            return (up - down) / (2 * STEP)

    def _loss(self, x: np.ndarray) -> float:
        values = {**self._values, self._ref: x}
        for kernel, inputs, op in self._steps:
            results = kernel(*[values[given] for given in inputs])
            if isinstance(results, tuple):
                values.update((op.output(index), result) for index, result in enumerate(results))
            else:
                values[op.output(0)] = results
        return float(sum(np.sum(w * values[y]).real for y, w in self._weights.items()))


def _first_call(op: Operation) -> Callable[..., Any]:
    """What computes `op`, as if it had never run."""
    definition = lookup(op.type, op.name)
    assert not definition.state.writes, f"{op.type} does not run twice alike"
    kernel = partial(definition.kernel.plain, np, **keywords(definition, op))
    if not definition.state.counter:
        return kernel
    return lambda *inputs: kernel(*inputs, definition.state.first_count(op))[:-1]
