"""Derivatives by central differences of runs of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.graph.model import Graph, TensorRef, predecessors
from tests.support.interpret import Interpreter

STEP = 1e-6


def differences(
    graph: Graph, loss: TensorRef, ref: TensorRef, feeds: Mapping[TensorRef | str, Any]
) -> np.ndarray:
    """d loss / d ref by central differences. Of a complex tensor x + iy that is d loss / dx +
    i d loss / dy, the gradient as TensorFlow means it."""
    x = np.array(feeds[ref.short])
    numeric = np.zeros_like(x)
    with np.errstate(all="ignore"):
        nudged = _Nudged(graph, loss, ref, feeds)
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
    """Runs that differ in the value of one fed tensor: what does not depend on it is run once."""

    def __init__(
        self, graph: Graph, loss: TensorRef, ref: TensorRef, feeds: Mapping[TensorRef | str, Any]
    ) -> None:
        self._graph, self._loss, self._ref = graph, loss, ref
        interpreter = Interpreter(graph)
        self._values = interpreter.values([loss], feeds)
        moving = {ref.op}
        self._steps = []
        for op in interpreter.steps([loss], feeds):
            if not moving.isdisjoint(predecessors(op)):
                moving.add(op.name)
                self._steps.append(op)

    def loss(self, x: np.ndarray) -> Any:
        values = {**self._values, self._ref: x}
        interpreter = Interpreter(self._graph)  # one that has counted nothing yet
        for op in self._steps:
            interpreter.step(op, values)
        return values[self._loss]
