"""The colour of each branch: of those that people tell apart who see colours otherwise, too."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor

from gradstep.core.protocol.messages import BranchInfo
from gradstep.gui.look.theme import Theme, mix

# Okabe and Ito, https://jfly.uni-koeln.de/color/
_HUES = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#0072b2")


def branch_colors(theme: Theme, branches: Sequence[BranchInfo]) -> dict[str, QColor]:
    """By their names, in the order in which they were made; the first has the colour of text."""
    others = [branch.name for branch in branches if branch.parent]
    found = {name: _on(theme, _HUES[i % len(_HUES)]) for i, name in enumerate(others)}
    return {branch.name: found.get(branch.name, theme.muted) for branch in branches}


def _on(theme: Theme, hue: str) -> QColor:
    """As strong as text is, on the theme's ground."""
    return mix(QColor(hue), theme.text, 0.1 if theme.is_dark else 0.3)
