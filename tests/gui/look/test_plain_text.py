"""Labels: what another theme leaves of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMargins
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstep.gui.look import theme
from gradstep.gui.look.plain_text import Label


@pytest.mark.parametrize("width", [0, 12, 16, 17, 200])
def test_a_label_keeps_its_margins_with_another_theme(
    qtbot: QtBot, qapp: QApplication, width: int
) -> None:
    """Also one that says nothing yet, and is as wide as they are."""
    theme.apply(qapp, theme.DARK)
    label = Label()
    qtbot.addWidget(label)
    label.setContentsMargins(8, 1, 8, 2)
    label.show()
    label.resize(width, 17)
    for look in (theme.LIGHT, theme.DARK):
        theme.apply(qapp, look)
        assert label.contentsMargins() == QMargins(8, 1, 8, 2)
