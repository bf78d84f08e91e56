"""Heat colours: from blue through neutral to orange, told apart by every kind of eye."""

from __future__ import annotations

from functools import cache
from math import isfinite

import numpy as np
from PySide6.QtGui import QColor

from gradstep.gui.look.theme import Theme, mix


def color(theme: Theme, value: float, largest: float) -> QColor:
    """The colour of a value between -largest and largest; NaN and infinities are problems."""
    if not isfinite(value):
        return theme.problem
    share = 0.0 if largest <= 0 else max(-1.0, min(1.0, value / largest))
    return mix(neutral(theme), theme.backward if share > 0 else theme.forward, abs(share))


@cache
def neutral(theme: Theme) -> QColor:
    """The colour of 0: of none of the two sides, and no ground that it lies on."""
    return mix(theme.hover, theme.disabled, 0.35)


def largest(values: np.ndarray) -> float:
    """The largest finite magnitude, to scale colours by; 0 when there is none."""
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max()) if len(finite) else 0.0
