"""The colour of each curve: what it is gives the colour, its place among its kind the lightness."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor

from gradstep.gui.look.theme import Theme, mix
from gradstep.gui.model.training import Curve


def colors(theme: Theme, curves: Sequence[Curve]) -> list[QColor]:
    """One for each of `curves`."""
    kinds = {tone: [c for c in curves if c.tone == tone] for tone in {c.tone for c in curves}}
    return [_shade(theme, curve, kinds[curve.tone]) for curve in curves]


def _shade(theme: Theme, curve: Curve, kind: Sequence[Curve]) -> QColor:
    color = theme.tone(curve.tone)
    if len(kind) == 1:
        return color
    share = 2 * kind.index(curve) / (len(kind) - 1) - 1  # the middle one has the colour itself
    return (
        mix(color, theme.text, 0.6 * share) if share > 0 else mix(color, theme.panel, -0.5 * share)
    )
