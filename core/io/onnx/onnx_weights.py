"""What the tensors in a model are for: trained, kept, or how something is done."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import kind_of

# Inputs that say how, by operator and position: no weights.
_HOW = {
    "Clip": {1, 2}, "Dropout": {1, 2}, "DequantizeLinear": {1, 2}, "Hardmax": set(), "OneHot": {2},
    "Pad": {2}, "QuantizeLinear": {1, 2}, "Range": {0, 1, 2}, "Resize": {1, 2}, "Upsample": {1},
    "Shrink": set(), "Where": {0}, "GridSample": set(),
}  # fmt: skip
_WEIGHT = 1e4  # beyond which a number is none of a weight
_KEPT = {"BatchNormalization": {3, 4}}  # averages, which no gradient trains


class WeightUses:
    """Who reads the initialisers of a graph; those in branches and loops included."""

    def __init__(self, graph: Any) -> None:
        self._uses: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._note(graph, 0)

    def kind(self, name: str, array: np.ndarray) -> tuple[str, bool]:
        """ "parameter", "buffer" or "constant", and whether it is trained: floating-point numbers
        with an axis are, unless all who read them take them for something else, or they mask."""
        uses = self._uses.get(name, [])
        if kind_of(array.dtype) != "f" or not array.ndim or not array.size or _is_mask(array):
            return "constant", False
        if uses and all(place in _HOW.get(type, ()) for type, place in uses):
            return "constant", False
        if uses and all(place in _KEPT.get(type, ()) for type, place in uses):
            return "buffer", False
        return "parameter", True

    def _note(self, graph: Any, depth: int) -> None:
        for node in graph.node:
            for place, name in enumerate(node.input):
                self._uses[name].append((node.op_type, place))
            for attribute in node.attribute:
                if attribute.HasField("g") and depth < 100:
                    self._note(attribute.g, depth + 1)


def _is_mask(array: np.ndarray) -> bool:
    """Whether it has numbers as no weight has: infinite ones, or the least that there are."""
    return not bool((np.abs(array.astype(np.float64)) < _WEIGHT).all())
