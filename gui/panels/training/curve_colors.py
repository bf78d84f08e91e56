"""The colour of each curve: what it is gives the colour, its place among its kind the lightness."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor

from gradstep.gui.look.theme import Theme, mix
from gradstep.gui.model.training_curve import Curve


def colors(theme: Theme, curves: Sequence[Curve]) -> list[QColor]:
    """One for each of `curves`; what only event files have is drawn by itself, and of no kind."""
    kinds: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        kinds.setdefault((curve.tone, curve.tag), []).append(curve)
    return [_shade(theme, curve, kinds[curve.tone, curve.tag]) for curve in curves]


def _shade(theme: Theme, curve: Curve, kind: Sequence[Curve]) -> QColor:
    color, number = theme.tone(curve.tone), kind.index(curve)
    share = 0.55 * ((number + 1) // 2) / max(len(kind) // 2, 1)  # the first has the colour itself
    return mix(color, theme.text if number % 2 else theme.panel, share)
