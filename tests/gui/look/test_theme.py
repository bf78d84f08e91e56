"""Themes: every colour that can be named is there, and another theme is put on at once."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gradstep.gui.look.theme import DARK, LIGHT, Theme, Tone, apply


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_colours_that_can_be_named_are_those_that_there_are(theme: Theme) -> None:
    names = get_args(Tone)
    assert names == tuple(field.name for field in fields(Theme) if field.name != "name")
    assert all(theme.tone(name).isValid() for name in names)


def test_what_is_in_no_phase_is_muted() -> None:
    assert DARK.phase("backward") is DARK.backward
    assert DARK.phase("") is DARK.muted
    assert DARK.phase("panel") is DARK.muted  # a colour, and no phase


class Counting(QPushButton):
    def __init__(self) -> None:
        super().__init__("Go")
        self.dressed = 0

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            self.dressed += 1
        super().changeEvent(event)


def test_another_theme_dresses_each_widget_once_however_deep_it_is(
    qapp: QApplication, qtbot: QtBot
) -> None:
    apply(qapp, DARK)
    outer, depth = QWidget(), 12
    qtbot.addWidget(outer)
    inner = outer
    for _ in range(depth):
        column = QVBoxLayout(inner)
        inner = QWidget()
        column.addWidget(inner)
    button = Counting()
    QVBoxLayout(inner).addWidget(button)
    outer.show()
    for theme in (LIGHT, DARK):
        button.dressed = 0
        apply(qapp, theme)
        assert 1 <= button.dressed <= 4 < depth  # a palette, and the rules'
        middle = button.grab().toImage().pixelColor(6, button.height() // 2)
        assert middle == theme.raised
        assert button.palette().buttonText().color() == theme.text
