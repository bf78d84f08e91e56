"""Each box's share of the time or bytes of a run, to be coloured by, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.model.profiler import Measured

NAMED_FAR = 24  # boxes that say their share in a far view: the largest
LEAST, FOREMOST = 5e-4, 5e-3  # smaller shares are not said, and not in a far view


@dataclass(frozen=True, eq=False)
class Shares:
    """values: float64[n], the share of each box, from 0 to 1. by: "time" or "bytes"."""

    values: np.ndarray
    by: str

    @cached_property
    def largest(self) -> float:
        return float(self.values.max(initial=0.0))

    def text(self, box: int) -> str:
        """ "34 %", "4.1 %"; "" for next to nothing."""
        return percent(float(self.values[box])) if self.values[box] >= LEAST else ""

    def said(self, box: int) -> str:
        """The same in a sentence: "34 % of the time"; "" for next to nothing."""
        text = self.text(box)
        return f"{text} of the {self.by}" if text else ""

    @cached_property
    def foremost(self) -> np.ndarray:
        """bool[n]: the boxes that say their share also in a far view."""
        chosen = np.zeros(len(self.values), dtype=bool)
        chosen[np.argsort(self.values)[-NAMED_FAR:]] = True
        return chosen & (self.values >= FOREMOST)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


@lru_cache(maxsize=1)
def shares_of(measured: Measured, visible: VisibleGraph, by: str) -> Shares:
    """What each box, and all that is collapsed in it, has of the whole. What several operations
    share is split evenly between them."""
    names, amounts = measured.parts(by)
    boxes = np.fromiter((visible.box_of.get(n, -1) for n in names), np.int64, len(names))
    here, whole = boxes >= 0, amounts.sum()
    sums = np.bincount(boxes[here], amounts[here], len(visible.boxes))
    return Shares(sums / whole if whole else sums, by)
