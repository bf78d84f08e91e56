"""What a document expects of its runs, with a mark on each once it is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.protocol.messages import CheckedExpectation
from gradstep.gui import commands
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.markdown_text import IsName, MarkedText
from gradstep.gui.panels.widgets.misconception_card import MARK, paint_mark
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader, ThemeSource, Wrapped

MOST = 120  # characters of what came


class ExpectationList(QWidget):
    """One row for each, under a heading that counts them."""

    def __init__(
        self, workspace: Workspace, is_name: IsName, select: Callable[[str], None]
    ) -> None:
        super().__init__()
        self.setObjectName("note.expectations")
        self._workspace, self._is_name, self._select = workspace, is_name, select
        self._theme: ThemeSource = lambda: workspace.theme
        self.rows: list[Row] = []
        self.heading = SectionHeader(self._theme, "What a run gives")
        self.again = Link(self._theme, self.tr("Check"), "note.check")
        self.again.clicked.connect(workspace.expected.check)
        self.add = Link(self._theme, self.tr("Add what this run gives"), "note.expect")
        self.add.clicked.connect(lambda: commands.expect_run(workspace))
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.again)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)
        self._column.addLayout(head)
        self._column.addWidget(self.add)
        workspace.expected.changed.connect(self.mark)

    def list_them(self, expectations: tuple[Expectation, ...]) -> None:
        """Have the rows say these, with marks as far as they were checked."""
        while len(self.rows) > len(expectations):
            row = self.rows.pop()
            self._column.removeWidget(row)
            row.deleteLater()
        while len(self.rows) < len(expectations):
            self._add_row()
        for row, expectation in zip(self.rows, expectations, strict=True):
            row.say(expectation)
        self.again.setVisible(bool(expectations))
        self.mark()

    def _add_row(self) -> None:
        """At the end."""
        row, number = Row(self._theme, self._is_name), len(self.rows)
        row.text.linkActivated.connect(self._select)
        row.removed.connect(partial(commands.remove_expectation, self._workspace, number))
        self.rows.append(row)
        self._column.insertWidget(self._column.indexOf(self.add), row)

    def mark(self) -> None:
        """Show what the engine found."""
        expected = self._workspace.expected
        checked = expected.checked or ()
        if len(checked) == len(self.rows):
            for row, found in zip(self.rows, checked, strict=True):
                row.mark(found)
        else:
            for row in self.rows:
                row.mark(None)
        self._count(checked)

    def restyle(self) -> None:
        for row in self.rows:
            row.text.restyle()

    def _count(self, checked: Sequence[CheckedExpectation]) -> None:
        wrong = sum(not found.ok for found in checked)
        failure = self._workspace.expected.failure
        if failure is not None:
            remark = failure.message
        elif not checked:
            remark = "not checked yet" if self.rows else ""
        else:
            remark = _failed(wrong, len(checked)) if wrong else "checked"
        tone: Tone = "problem" if failure is not None or wrong else "muted"
        self.heading.set_texts(self.heading.title.text(), remark, tone)


class Row(QWidget):
    """A sentence; under it what was looked at, and what came. removed: the user wants it gone."""

    removed = Signal()

    def __init__(self, theme: ThemeSource, is_name: IsName) -> None:
        super().__init__()
        self._theme, self._looked_at = theme, ""
        self.checked: CheckedExpectation | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        self.sign = Sign(theme)
        words = QVBoxLayout()
        words.setSpacing(2)
        self.text = MarkedText(theme, "note.expectation", is_name)
        self.came = Wrapped(theme, "note.expectation.came", "muted", code=True)
        words.addWidget(self.text)
        words.addWidget(self.came)
        row.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        self.remove = QAction(self.tr("Remove"), self)
        self.remove.triggered.connect(self.removed)
        self.addAction(self.remove)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def say(self, expectation: Expectation) -> None:
        """What is expected; it is to be marked after that."""
        self._looked_at = describe_subject(expectation)
        self.text.say(expectation.text)

    def mark(self, checked: CheckedExpectation | None) -> None:
        """With what was found, or None before it is known."""
        self.checked = checked
        ok = None if checked is None else checked.ok
        self.sign.show_state(ok)
        came = "" if checked is None else f" → {_shortened(checked.came)}"
        self.came.setText(self._looked_at + came)
        self.came.setToolTip(plain("" if checked is None or checked.came in came else checked.came))
        state = {None: "not checked", True: "holds", False: "does not hold"}[ok]
        self.setAccessibleName(f"{self.text.accessibleName()} ({state})")


def _failed(wrong: int, count: int) -> str:
    """ "1 of 4 does not hold"."""
    return f"{wrong} of {count} {'does' if wrong == 1 else 'do'} not hold"


def _shortened(numbers: str) -> str:
    """As many of the numbers as are taken in at a glance."""
    if len(numbers) <= MOST:
        return numbers
    return f"{numbers[:MOST].rpartition(', ')[0]}, …"


class Sign(QWidget):
    """A tick, a cross, or a ring while nothing is known."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._ok: bool | None = None
        self.setFixedSize(MARK + 2, 2 * GRID + 4)

    def show_state(self, ok: bool | None) -> None:
        if ok != self._ok:
            self._ok = ok
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._ok is None:
            painter.setPen(QPen(theme.faint, 1.2))
            painter.drawEllipse(QRectF(self.rect()).center(), 4, 4)
        else:
            color = theme.update if self._ok else theme.problem
            paint_mark(painter, QRectF(self.rect()), self._ok, QPen(color, 1.8))


def describe_subject(e: Expectation) -> str:
    """What is looked at, in which run (the window counts from 1), under what circumstances."""
    what = e.what if e.kind is not ExpectationKind.FAILS else e.what or "the run"
    parts = [what, *([f"run {e.run + 1}"] if e.run else []), *_changed(e.when)]
    return " · ".join(parts)


def _changed(when: Variation) -> list[str]:
    """What is changed first, in a few words each."""
    parts = [f"on {when.device}"] if when.device != "cpu" else []
    parts += [] if when.overrides else ["overrides off"]
    parts += [] if when.stops else ["stops off"]
    parts += [f"d {', '.join(ref.short for ref in when.of)}"] if when.of else []
    names = [name.removesuffix(":0") for name in (*when.feeds, *when.initial)]
    parts += [f"other {', '.join(names)}"] if names else []
    fetched = [*(ref.short for ref in when.fetches), *when.targets]
    return parts + ([f"fetching {', '.join(fetched)}"] if fetched else [])
