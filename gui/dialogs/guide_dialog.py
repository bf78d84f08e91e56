"""The guide: first steps, bringing a model from elsewhere, where messages are; beside the work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.guide_pages import FIRST_STEPS, MESSAGES, PAGES, PYTORCH, Page
from gradstep.gui.dialogs.text_copying import copy_text
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import BODY, GRID, mono, sans
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.markdown_text import MarkedText
from gradstep.gui.panels.widgets.scroll_area import scroll_area

LIST, LINE = 208, 28  # pixels: the width of the list of pages, the height of each


class GuideDialog(Dialog):
    """Its pages in a list, the chosen one beside it. It is no question: one works on meanwhile."""

    first: Page = FIRST_STEPS
    name = "first_steps_dialog"

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(workspace, self.name, "Guide", window)
        (self._actions,) = window.findChildren(ActionSet)
        self.pages, self.list = QStackedWidget(), self._contents()
        self.column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.list)
        row.addWidget(self.pages, 1)
        self.column.addLayout(row, 1)
        self._places = [QWidget() for _ in PAGES]
        for place in self._places:
            self.pages.addWidget(place)
        self.list.currentRowChanged.connect(self._show_page)
        self.list.setCurrentRow(PAGES.index(self.first))
        self.resize(840, 640)
        workspace.theme_changed.connect(self._restyle)

    def open(self) -> None:
        self.show_beside(GuideDialog)

    def _restyle(self) -> None:
        """The theme changed while it is open: the texts have its colours inside."""
        for text in self.findChildren(MarkedText):
            text.restyle()

    def _contents(self) -> QListWidget:
        contents = QListWidget()
        contents.setObjectName(f"{self.name}.contents")
        contents.setAccessibleName("Pages of the guide")
        contents.setFrameShape(QFrame.Shape.NoFrame)
        contents.setFixedWidth(LIST)
        contents.setProperty("contents", True)  # of window.qss
        for page in PAGES:
            item = QListWidgetItem(page.title, contents)
            item.setSizeHint(QSize(0, LINE))
        return contents

    def _show_page(self, number: int) -> None:
        """Each is made when it is looked at: all of them would take longer than a blink."""
        place = self._places[number]
        if place.layout() is None:
            column = QVBoxLayout(place)
            column.setContentsMargins(0, 0, 0, 0)
            column.addWidget(self._page(PAGES[number]))
        self.pages.setCurrentIndex(number)

    def _page(self, page: Page) -> QWidget:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(2 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        column.setSpacing(GRID)
        heading = Label(page.title)
        heading.setFont(sans(BODY + 2, strong=True))
        column.addWidget(heading)
        for text, is_code in page.parts(self._actions):
            column.addWidget(self._code(text) if is_code else self._text(text))
        column.addLayout(self._offers(page.buttons))
        column.addStretch(1)
        return scroll_area(body)

    def _text(self, text: str) -> QWidget:
        label = MarkedText(lambda: self.workspace.theme, f"{self.name}.text", lambda _: False)
        label.say(text)
        return label

    def _code(self, text: str) -> QWidget:
        """Something to type, and a button that copies it."""
        field = QPlainTextEdit(text)
        field.setObjectName(f"{self.name}.code")
        field.setAccessibleName(text)
        field.setReadOnly(True)
        field.setFont(mono(BODY - 1))
        field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        field.setFrameShape(QFrame.Shape.NoFrame)
        lines = text.count("\n") + 1
        field.setFixedHeight(lines * QFontMetrics(field.font()).lineSpacing() + 2 * GRID + 4)
        field.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        copy = QPushButton("Copy")
        copy.setObjectName(f"{self.name}.copy")
        copy.setAccessibleName(f"Copy {text}")
        copy.setAutoDefault(False)
        copy.clicked.connect(lambda: copy_text(copy, text))
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(field, 1)
        row.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        return both

    def _offers(self, ids: Sequence[str]) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, GRID, 0, 0)
        for id in ids:
            action = self._actions.row(id)
            button = QPushButton(action.title)
            button.setObjectName(f"{self.name}.{id}")
            button.setAutoDefault(False)
            button.clicked.connect(partial(self._actions.run, id))
            row.addWidget(button)
        row.addStretch(1)
        return row


class BringModelDialog(GuideDialog):
    """At the first of the pages about models from elsewhere."""

    first, name = PYTORCH, "bring_model_dialog"


class MessagesDialog(GuideDialog):
    """At the page about messages."""

    first, name = MESSAGES, "messages_dialog"
