"""How well one colour is read on another, as the WCAG count it, and which ink is read on it."""

from __future__ import annotations

from PySide6.QtGui import QColor


def ink_on(color: QColor) -> QColor:
    """Black or white, whichever has more contrast to `color`; it is 4.58 at least (WCAG 2.2 asks
    for 4.5): where both have the same, sqrt(1.05 * 0.05) - 0.05 is the colour's luminance."""
    return QColor("#000000") if luminance(color) > 0.179 else QColor("#FFFFFF")


def contrast(first: QColor, second: QColor) -> float:
    """The contrast ratio of two opaque colours, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: QColor) -> float:
    """Relative luminance, from 0 (black) to 1 (white), of an opaque sRGB colour (WCAG 2.2)."""
    channels = (color.redF(), color.greenF(), color.blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
