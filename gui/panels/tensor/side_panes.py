"""Tensors beside the one that is looked at: gradient, update, slots, and what is pinned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSplitter, QToolButton, QVBoxLayout, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.host.tensors.slice_syntax import Picks, all_of, parse_slice
from gradstep.core.protocol.messages import OtherTensor
from gradstep.gui.look.icons import icon
from gradstep.gui.look.theme import GRID, SMALL, Tone, mono
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.view_choice import View, first_view, is_number
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.tensor.tensor_explorer import TensorExplorer
from gradstep.gui.panels.tensor.tensor_facts import facts
from gradstep.gui.panels.widgets.small_labels import Text, ThemeSource

MOST = 8  # panes
_NARROWEST = 160


@dataclass(frozen=True, slots=True)
class Beside:
    """What a pane shows. title: in words; read: its value as of now; minus: what the difference is
    shown to; pinned: whether the user put it there, and may take it away."""

    title: str
    read: Callable[[], TensorValue | None]
    tone: Tone
    minus: OtherTensor | None = None
    pinned: bool = False


class PaneHead(QWidget):
    """A line over a pane: what it shows, and what is known of all of that."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.title = Text(theme, "text", mono(12), Qt.TextElideMode.ElideMiddle)
        self.facts = Text(theme, "muted", mono(SMALL))
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.facts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(12, 0, GRID // 2, 0)
        self.row.setSpacing(GRID)
        self.row.addWidget(self.title)
        self.row.addWidget(self.facts, 1)
        self.setFixedHeight(3 * GRID)

    def say(self, title: str, known: str, tone: Tone) -> None:
        self.title.set_text(title, tone)
        self.facts.set_text(known)


class SidePane(QWidget):
    """One of them, in the view that the panel has. closed(): the user takes it away."""

    closed = Signal()

    def __init__(self, workspace: Workspace, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("tensor.beside")
        self.setMinimumWidth(_NARROWEST)
        self.explorer = TensorExplorer(workspace, theme)
        self._unseen = QWidget(self)  # its controls: the panel's are for all
        row = QHBoxLayout(self._unseen)
        for each in (*self.explorer.controls, *self.explorer.buttons):
            row.addWidget(each)
        row.addWidget(self.explorer.said)
        self._unseen.hide()
        self.head = PaneHead(theme)
        self.close_button = QToolButton()
        self.close_button.setObjectName("tensor.unpin")
        self.close_button.setIcon(icon("close", theme(), theme().muted))
        self.close_button.setAutoRaise(True)
        self.close_button.clicked.connect(self.closed)
        self.head.row.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.explorer, 1)

    def show_beside(self, beside: Beside, leading: View | None) -> None:
        """leading: what the panel shows, which this follows."""
        value = beside.read()
        self.head.say(beside.title, facts(value), beside.tone)
        self.close_button.setVisible(beside.pinned)
        self.close_button.setToolTip(self.tr("Take it away"))
        self.close_button.setAccessibleName(self.tr("Take {} away").format(beside.title))
        if value is not None and value.state == "known":
            self.explorer.follow(value, followed(leading, value, beside.minus))
        self.explorer.show_tensor(value, beside.tone)


class SidePanes(QSplitter):
    """The panel's own view, and panes beside it. head: over the former, while there are others.
    unpinned(number): of the pane that was closed."""

    unpinned = Signal(int)

    def __init__(self, workspace: Workspace, theme: ThemeSource, main: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setObjectName("tensor.panes")
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self._workspace, self._theme = workspace, theme
        self.head = PaneHead(theme)
        self.head.hide()
        leading = QWidget()
        column = QVBoxLayout(leading)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(main, 1)
        self.addWidget(leading)
        self.panes: list[SidePane] = []

    def show_beside(self, shown: Sequence[Beside], leading: View | None) -> None:
        """These, in their order, in the view that leads."""
        wanted = [*shown[:MOST]]
        self.head.setVisible(bool(wanted))
        if len(wanted) != len(self.panes):
            self._make(len(wanted))
        for pane, beside in zip(self.panes, wanted, strict=True):
            pane.show_beside(beside, leading)

    def _make(self, count: int) -> None:
        while len(self.panes) > count:
            gone = self.panes.pop()
            gone.setParent(None)
            gone.deleteLater()
        while len(self.panes) < count:
            pane = SidePane(self._workspace, self._theme)
            number = len(self.panes)
            pane.closed.connect(lambda number=number: self.unpinned.emit(number))
            self.panes.append(pane)
            self.addWidget(pane)
        self.setSizes([self.width() // (count + 1)] * (count + 1))

    def restyle(self) -> None:
        """The theme changed."""
        for pane in self.panes:
            pane.close_button.setIcon(icon("close", self._theme(), self._theme().muted))
            pane.explorer.restyle()


def followed(leading: View | None, value: TensorValue, minus: OtherTensor | None) -> View:
    """The view of a tensor that follows another's: the same slice where it has one, else all."""
    if leading is None:
        return replace(first_view(value), minus=minus)
    same_rank = len(leading.picks.shape) == len(value.shape)
    other = leading.minus if minus is None and leading.minus and not leading.minus.ref else minus
    return View(
        leading.kind if is_number(value.dtype) else "table",
        picks_like(leading.picks, value.shape),
        leading.layout if same_rank else None,
        leading.colours,
        leading.range,
        other,
    )


def picks_like(picks: Picks, shape: tuple[int, ...]) -> Picks:
    """The same slice of another shape; all of it where that has none."""
    if len(picks.shape) != len(shape):
        return all_of(shape)
    try:
        return parse_slice("" if picks.is_whole else picks.text, shape)
    except GradstepError:
        return all_of(shape)
