"""A strip's text has room: buttons stand beside a short one, and below a long one."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gradstep.gui.frame.banner import Banner
from gradstep.gui.model.workspace import Workspace

SHORT = "There is no node 'logits'."
LONG = "the logarithm of 0 is minus infinity; keep what it reads above 0; " * 4


class Strip:
    """A banner over nothing, as wide as it is asked to be."""

    def __init__(self, qtbot: QtBot, workspace: Workspace) -> None:
        self.page = QWidget()
        qtbot.addWidget(self.page)
        self.banner = Banner(workspace, "banner.tried", "problem", "problem")
        names = ("first", "second", "third")
        self.buttons = [self.banner.add_button(f"The {n} way…", n, lambda: None) for n in names]
        self.banner.add_close()
        column = QVBoxLayout(self.page)
        column.addWidget(self.banner)
        column.addStretch(1)
        self.qtbot = qtbot

    def show(self, text: str, width: int) -> None:
        self.banner.say(text)
        self.page.resize(width, 400)
        self.page.show()
        self.qtbot.waitUntil(lambda: self._rect(self.buttons[0]).width() > 0)
        self.qtbot.wait(1)

    def is_below(self) -> bool:
        """Raises AssertionError where the buttons and the text are in each other's way."""
        text, button = self._rect(self.banner.label), self._rect(self.buttons[0])
        assert not text.intersects(button)
        return button.top() >= text.bottom()

    def _rect(self, widget: QWidget) -> QRect:
        return QRect(widget.mapTo(self.banner, widget.rect().topLeft()), widget.size())


@pytest.fixture
def strip(qtbot: QtBot, workspace: Workspace) -> Strip:
    return Strip(qtbot, workspace)


@pytest.mark.parametrize(
    ("text", "width", "below"),
    [(SHORT, 900, False), (LONG, 900, True), (LONG, 2400, False)],
    ids=["short", "long", "wide"],
)
def test_buttons_stand_where_the_text_has_room(
    strip: Strip, text: str, width: int, below: bool
) -> None:
    strip.show(text, width)
    assert strip.is_below() is below


def test_they_move_with_the_width_the_text_and_each_other(strip: Strip) -> None:
    strip.show(LONG, 2400)
    strip.page.resize(900, 400)
    strip.qtbot.waitUntil(strip.is_below)
    strip.page.resize(2400, 400)
    strip.qtbot.waitUntil(lambda: not strip.is_below())
    strip.page.resize(900, 400)
    strip.qtbot.waitUntil(strip.is_below)
    for button in strip.buttons[1:]:
        button.hide()
    strip.banner.say(SHORT)
    strip.qtbot.waitUntil(lambda: not strip.is_below())
