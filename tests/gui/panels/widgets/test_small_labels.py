"""Small texts: what the pointer finds out about them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstep.gui.look.theme import DARK
from gradstep.gui.panels.inspector.fact_rows import FactRow, FactRows
from gradstep.gui.panels.widgets.small_labels import Link, Text


def come(text: Text | Link) -> None:
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
    link = Link(lambda: DARK, "some words", "link")
    qtbot.addWidget(link)
    link.set_tip(tip)
    link.resize(width, 20)
    for _ in range(2):
        come(text)
        come(link)
        assert text.toolTip() == link.toolTip() == said


def test_a_link_that_is_cut_keeps_the_tool_tip_that_it_was_given(qtbot: QtBot) -> None:
    link = Link(lambda: DARK, "some words", "link")
    qtbot.addWidget(link)
    link.setToolTip("where it leads")
    link.resize(20, 20)
    come(link)
    assert link.toolTip() == "where it leads"


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
