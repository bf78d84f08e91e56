"""Small texts: what the pointer finds out about them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstep.gui.look.theme import DARK
from gradstep.gui.panels.inspector.fact_rows import FactRow, FactRows
from gradstep.gui.panels.widgets.small_labels import Text


def come(text: Text) -> None:
    at = QPointF(1, 1)
    QApplication.sendEvent(text, QEnterEvent(at, at, at))


@pytest.mark.parametrize(
    ("width", "tip", "said"),
    [
        (400, "", ""),
        (20, "", "some words"),
        (400, "and why", "and why"),
        (20, "and why", "some words\nand why"),
    ],
)
def test_a_tool_tip_says_what_is_cut_and_what_there_is_besides(
    qtbot: QtBot, width: int, tip: str, said: str
) -> None:
    text = Text(lambda: DARK)
    qtbot.addWidget(text)
    text.set_text("some words")
    text.set_tip(tip)
    text.resize(width, 20)
    for _ in range(2):
        come(text)
        assert text.toolTip() == said


def test_a_caption_says_what_it_is_of_under_the_pointer(qtbot: QtBot) -> None:
    rows = FactRows(lambda: DARK)
    qtbot.addWidget(rows)
    for says in ("a sum", "a product"):
        rows.show_rows([FactRow("Type", says, lambda: Text(lambda: DARK), says, lambda _: None)])
        rows.resize(300, 60)
        caption = rows.findChildren(Text)[0]
        caption.resize(100, 20)
        come(caption)
        assert (caption.text(), caption.toolTip()) == ("Type", says)
