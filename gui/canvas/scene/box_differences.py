"""How far each box's result on another device is from that on this one, to be coloured by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gradstep.core.protocol.messages import ComparedNode, Comparison
from gradstep.gui.canvas.scene.box_shares import Shares
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

DIFFERENCE = "difference"
LEAST = -8  # the exponent of ten at which colour begins; at 1 it is full
_FAINTEST = 0.1
ALL_OTHER = math.inf  # what fails, or is NaN, on one side only


@dataclass(frozen=True, eq=False)
class Differences(Shares):
    """values: float64[n], from 0 (equal) to 1 (as large as the number itself), by exponents of
    ten. texts: what each box says."""

    texts: Sequence[str]

    @property
    def largest(self) -> float:
        """The scale is the same in every picture."""
        return 1.0

    def text(self, box: int) -> str:
        return self.texts[box]

    def said(self, box: int) -> str:
        text = self.text(box)
        return f"differs by {text} of its size" if text[1:] else "differs" if text else ""


def differences_of(comparisons: Sequence[Comparison], visible: VisibleGraph) -> Differences:
    """What each box, and all that is collapsed in it, differs by on any of the devices."""
    return _differences(tuple(map(_Held, comparisons)), visible)


class _Held:
    """A comparison as a key: the same object is the same."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.comparison is self.comparison

    def __hash__(self) -> int:
        return id(self.comparison)


@lru_cache(maxsize=1)
def _differences(comparisons: tuple[_Held, ...], visible: VisibleGraph) -> Differences:
    worst = np.zeros(len(visible.boxes))
    for held in comparisons:
        for node in held.comparison.nodes:
            box = visible.box_of.get(node.name)
            if box is not None:
                worst[box] = max(worst[box], _apart(node))
    values = np.array([_heat(size) for size in worst.tolist()])
    return Differences(values, DIFFERENCE, [_said(size) for size in worst.tolist()])


def _apart(node: ComparedNode) -> float:
    """Relative L2; infinite where there is no number for it."""
    if node.differs and (node.verdict == "raises" or node.metrics.get("nan_mismatches")):
        return ALL_OTHER
    if node.verdict in ("close", "differs"):
        return node.metrics.get("rel_l2", ALL_OTHER)
    return 0.0


def _heat(size: float) -> float:
    if size == 0:
        return 0.0
    exponent = 0.0 if math.isinf(size) else math.log10(size)
    return min(1.0, max(_FAINTEST, 1 - exponent / LEAST))


def _said(size: float) -> str:
    if size == 0:
        return ""
    return "≠" if math.isinf(size) else f"{size:.1e}"
