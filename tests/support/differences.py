"""Derivatives by central differences of runs of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.graph.model import Graph, Operation, TensorRef, predecessors
from gradstep.core.ops.declare.table import lookup
from tests.support.interpret import Interpreter, keywords

STEP = 1e-6


def differences(
    graph: Graph,
    weighted: Mapping[TensorRef, TensorRef],
    ref: TensorRef,
    feeds: Mapping[TensorRef | str, Any],
) -> np.ndarray:
    """d loss / d ref by central differences, where the loss is the sum of all elements of the
    tensors in `weighted`, each times its weight, which is fed. Of a complex tensor x + iy that is
    d loss / dx + i d loss / dy, the gradient as TensorFlow means it; its weight a + ib stands for
    ax + by."""
    x = np.array(feeds[ref.short])
    numeric = np.zeros_like(x)
    with np.errstate(all="ignore"):
        nudged = _Nudged(graph, weighted, ref, feeds)
        for direction in (1, 1j) if x.dtype.kind == "c" else (1,):
            for place in np.ndindex(x.shape):
                around = []
                for step in (STEP, -STEP):
                    moved = x.copy()
                    moved[place] += step * direction
                    around.append(nudged.loss(moved))
                numeric[place] += (around[0] - around[1]) / (2 * STEP) * direction
    return numeric


class _Nudged:
    """Runs that differ in the value of one fed tensor: what does not depend on it is run once, and
    what each operation calls is looked up once."""

    def __init__(
        self,
        graph: Graph,
        weighted: Mapping[TensorRef, TensorRef],
        ref: TensorRef,
        feeds: Mapping[TensorRef | str, Any],
    ) -> None:
        self._ref = ref
        interpreter = Interpreter(graph)
        values = interpreter.values([*weighted], feeds)
        self._values = {key: interpreter.look(value) for key, value in values.items()}
        self._weights = {y: np.conj(np.asarray(feeds[w.short])) for y, w in weighted.items()}
        self._steps = []
        moving = {ref.op}
        for op in interpreter.steps([*weighted], feeds):
            if moving.isdisjoint(predecessors(op)):
                continue
            moving.add(op.name)
            inputs = [given for given in op.inputs if given is not None]
            self._steps.append((_first_call(op), inputs, op))

    def loss(self, x: np.ndarray) -> float:
        values = {**self._values, self._ref: x}
        for kernel, inputs, op in self._steps:
            results = kernel(*[values[given] for given in inputs])
            if isinstance(results, tuple):
                values.update((op.output(index), result) for index, result in enumerate(results))
            else:
                values[op.output(0)] = results
        return sum(np.sum(w * values[y]).real for y, w in self._weights.items())


def _first_call(op: Operation) -> Callable[..., Any]:
    """What computes `op`, as if it had never run."""
    definition = lookup(op.type, op.name)
    assert not definition.state.writes, f"{op.type} does not run twice alike"
    kernel = partial(definition.kernel.plain, np, **keywords(definition, op))
    if not definition.state.counter:
        return kernel
    return lambda *inputs: kernel(*inputs, definition.state.first_count(op))[:-1]
