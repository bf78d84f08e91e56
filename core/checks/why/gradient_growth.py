"""Where a gradient grows or shrinks most in the backward pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.autodiff.explain.gradient_paths import Value
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.checks.why.explanation_words import list_words
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import find

LARGE, SMALL = 1e6, 1e-7  # times what the gradient begins with
_SHOWN = 3
_SQUARES = ("Square", "SquaredDifference", "L2Loss")
_LINEAR = frozenset("Sum Mean Mul RealDiv Add AddV2 AddN Identity Cast Reshape Squeeze".split())
_SAME = 0.8  # a factor between this and one over it is not worth a word


@dataclass(frozen=True, slots=True)
class Growth:
    """total: how much larger the largest element of the gradient is than that of what it begins
    with; by: operations on the strongest way, with how much each contributes, the most first; loss:
    the one of them that is small because the loss is, "" where none is."""

    total: float
    by: tuple[tuple[str, float], ...]
    loss: str = ""

    @property
    def cause(self) -> str:
        """ "exploding", "vanishing", "fitted" (it is small as the loss is), or nothing worth a
        word."""
        if self.total >= LARGE:
            return "exploding"
        small = "fitted" if self.loss else "vanishing"
        return small if 0 < self.total <= SMALL else ""

    @property
    def text(self) -> str:
        """The operations that do most of it."""
        if self.cause == "fitted":
            return f"there is next to nothing left to learn: what {self.loss} measures is almost 0"
        word = "grows" if self.total > 1 else "shrinks"
        by = self.by[:1] + tuple(x for x in self.by[1:_SHOWN] if not _SAME < x[1] < 1 / _SAME)
        most = list_words(f"{name} ({factor:.3g} times)" for name, factor in by)
        return f"on its way back it {word} {self.total:.3g} times, most of it at {most}"


def growth(graph: Graph, derived: Differentiation, wrt: TensorRef, value: Value) -> Growth | None:
    """Along the way on which most of the gradient of `wrt` comes. None where there are no values to
    go by."""
    outputs: dict[str, list[TensorRef]] = defaultdict(list)
    for ref in derived.gradients:
        outputs[ref.op].append(ref)

    def size(ref: TensorRef | None) -> float:
        return _largest(None if ref is None else value(ref))

    factors: dict[str, float] = {}
    at = wrt
    while at not in derived.request.of:
        edges = [e for e in graph.consumers[at.op] if graph.source(e) == at and e in derived.edges]
        edge = max(edges, key=lambda e: size(derived.edges[e]), default=None)
        above = _strongest(outputs[edge.op], derived, size) if edge is not None else None
        if edge is None or above is None:
            return None
        factors[edge.op] = size(derived.edges[edge]) / (size(derived.gradients[above]) or 1.0)
        at = above
    start, end = size(derived.gradients.get(at)), size(derived.gradients.get(wrt))
    if not start or not end:
        return None
    total = end / start
    ranked = sorted(factors.items(), key=lambda item: item[1], reverse=total > 1)
    return Growth(total, tuple(ranked), _loss_of(graph, factors, total))


def _loss_of(graph: Graph, factors: Mapping[str, float], total: float) -> str:
    """The operation that measures how far something is from what it should be, where it alone makes
    the gradient small, and what it gives is only added up; else ""."""
    way = [*factors]  # from what is learned to the loss
    least = min(way, key=factors.__getitem__, default="")
    if not least or total <= SMALL * factors[least]:
        return ""
    definition, rest = find(graph[least].type), way[way.index(least) + 1 :]
    measures = graph[least].type in _SQUARES or (definition and definition.causes.flat == "fitted")
    return least if measures and all(graph[name].type in _LINEAR for name in rest) else ""


def _strongest(
    outputs: Sequence[TensorRef], derived: Differentiation, size: Callable[[TensorRef], float]
) -> TensorRef | None:
    return max(outputs, key=lambda ref: size(derived.gradients[ref]), default=None)


def _largest(array: np.ndarray | None) -> float:
    """The size of the largest element; 0 where there is none."""
    if array is None or kind_of(array.dtype) not in "fc" or not array.size:
        return 0.0
    return float(np.max(np.abs(array)))
