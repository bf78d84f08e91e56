"""A slim strip over the canvas: what is the matter, and one or two things to do about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from gradstep.gui.look import icons
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import GRID, Tone, mix
from gradstep.gui.model.workspace import Workspace

_BESIDE = 2  # lines of text that buttons stand beside


class Banner(QWidget):
    """Hidden until `say`. tone, icon: a theme colour, and a drawing: colour never stands alone."""

    def __init__(self, workspace: Workspace, name: str, tone: Tone, icon: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._workspace, self._tone, self._icon_name = workspace, tone, icon
        self._icon = Label()
        self.label = Label()
        self.label.setObjectName(f"{name}.text")
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._buttons = QWidget()
        self._row = QHBoxLayout(self._buttons)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GRID)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(2 * GRID, GRID // 2, GRID, GRID // 2)
        self._grid.setSpacing(GRID)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self._icon, 0, 0)
        self._grid.addWidget(self.label, 0, 1)
        self._grid.addWidget(self._buttons, 0, 2)
        self._below = False
        self._close: QToolButton | None = None
        self.hide()
        workspace.theme_changed.connect(self._tint)
        self._tint()

    def say(self, text: str, tone: Tone | None = None, icon: str = "") -> None:
        """Show the strip with one sentence, in another tone if given."""
        self._tone, self._icon_name = tone or self._tone, icon or self._icon_name
        self._tint()
        self.label.setText(text)
        self.setAccessibleName(text)
        self.show()

    def add_button(self, text: str, name: str, run: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.clicked.connect(lambda: run())
        self._row.addWidget(button)
        return button

    def add_close(self) -> None:
        """A cross at the right end that hides the strip."""
        self._close = close = QToolButton()
        close.setObjectName(f"{self.objectName()}.close")
        close.setAccessibleName("Close this message")
        close.setAutoRaise(True)
        close.clicked.connect(self.hide)
        self._grid.addWidget(close, 0, 3)
        self._tint()

    def event(self, event: QEvent) -> bool:
        """Put the buttons where there is room for them before what stands there is laid out."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._place_buttons()
        return super().event(event)

    def _place_buttons(self) -> None:
        """Below the text where it would be long and narrow beside them."""
        room = self.label.width() + (0 if self._below else self._wide())
        below = self._wide() > 0 and self._lines(room - self._wide()) > _BESIDE
        if below != self._below:
            self._below = below
            place = (1, 1) if below else (0, 2)
            self._grid.removeWidget(self._buttons)
            self._grid.addWidget(self._buttons, *place, Qt.AlignmentFlag.AlignLeft)

    def _wide(self) -> int:
        """Pixels that the buttons take of the text's line."""
        shown = any(not each.isHidden() for each in self._buttons.findChildren(QPushButton))
        return self._buttons.sizeHint().width() + GRID if shown else 0

    def _lines(self, width: int) -> int:
        metrics, wrap = self.label.fontMetrics(), Qt.TextFlag.TextWordWrap
        tall = metrics.boundingRect(0, 0, max(width, 1), 1 << 20, wrap, self.label.text()).height()
        return tall // metrics.lineSpacing()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._workspace.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), mix(theme.panel, theme.tone(self._tone), 0.13))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.line)
        painter.fillRect(0, 0, 3, self.height() - 1, theme.tone(self._tone))

    def _tint(self) -> None:
        theme = self._workspace.theme
        color = theme.tone(self._tone)
        self._icon.setPixmap(icons.pixmap(self._icon_name, color, 16, self.devicePixelRatioF()))
        if self._close is not None:
            self._close.setIcon(icons.icon("close", theme, theme.muted))
        self.update()
