"""What the table of gradients says in narrow columns."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QFontMetrics

from gradstep.core.protocol.messages import GradientRow
from gradstep.gui.panels.gradients.gradient_check_table import NAME, GradientModel
from gradstep.gui.panels.widgets.flat_table import cell_font, elided


def _shown(name: str, index: list[int], room: str) -> str:
    """room: a text that just fits."""
    row = GradientRow(name=name, index=index, native=1.0, override=None, numeric=1.0, agrees=True)
    model = GradientModel()
    model.show([row])
    cell = model.cell(0, NAME)
    metrics = QFontMetrics(cell_font(cell))
    return elided(cell, metrics, metrics.horizontalAdvance(room))


def test_a_name_is_cut_before_its_index(qapp: Any) -> None:
    assert _shown("W:0", [0, 1], "W[0,1]") == "W[0,1]"
    short = _shown("layer/weights:0", [0, 1], "wei…[0,1]")
    assert (short[0], short[-6:]) == ("l", "…[0,1]"[-6:])
    assert len({_shown("layer/weights:0", [0, i], "wei…[0,1]") for i in range(3)}) == 3
    assert _shown("weights:0", [1000, 1000, 1000], "W[0,1"), "something of it, where nothing fits"
