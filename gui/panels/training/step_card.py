"""What made the clicked step different: numbers against those before, the layer, the rows."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import (
    LayerChange,
    LeftOut,
    NumberChange,
    RowsWeighed,
    StepCompared,
)
from gradstep.gui import commands
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.icons import icon
from gradstep.gui.look.theme import BODY, GRID, mono, sans
from gradstep.gui.model.error_words import words
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.training.row_verdict import number, percent, verdict
from gradstep.gui.panels.widgets.card import Card, LinkSpec
from gradstep.gui.panels.widgets.small_labels import Link, Text, ThemeSource, Wrapped

ROWS = 5  # that are listed
ROOM = 12  # pixels at both sides


class StepCard(QWidget):
    """Says what is known of `workspace.clicked`."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("training.step")
        self._workspace, self._clicked = workspace, workspace.clicked
        self._shown: dict[str, tuple[object, ...]] = {}
        self._theme: ThemeSource = lambda: workspace.theme
        theme = self._theme
        column = QVBoxLayout(self)
        column.setContentsMargins(ROOM, GRID, ROOM, GRID)
        column.setSpacing(GRID // 2)
        column.addLayout(self._head())
        self.batch = Wrapped(theme, "training.step.batch", "muted")
        self.numbers, self.rows = Lines(theme), Lines(theme)
        self.layer, self.without = Lines(theme), Lines(theme)
        self.against = Wrapped(theme, "training.step.against", "muted")
        self.against.setContentsMargins(0, 0, 0, GRID // 2)
        self.card = Card(theme, "training.step.card")
        self.wrong = Wrapped(theme, "training.step.wrong", "muted")
        # The row first: it is what can be done something about, and there may be little room.
        parts = (self.batch, self.card, self.without, self.numbers, self.layer, self.against)
        for part in (*parts, self.rows, self.wrong):
            column.addWidget(part)
        column.addStretch(1)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.title = Text(self._theme, "text", sans(BODY, strong=True))
        self.close_card = QToolButton()
        self.close_card.setObjectName("training.step.close")
        self.close_card.setAutoRaise(True)
        self.close_card.setAccessibleName(self.tr("Close what is said of this step"))
        self.close_card.setToolTip(self.tr("Close"))
        self.close_card.clicked.connect(self._clicked.forget)
        row.addWidget(self.title, 1)
        row.addWidget(self.close_card)
        return row

    def refresh(self) -> None:
        """Say everything anew."""
        found = self._clicked
        theme = self._theme()
        self.close_card.setIcon(icon("close", theme, theme.muted))
        self.title.set_text(self.tr("Step {}").format(f"{found.step + 1:,}"))
        say(self.batch, found.batch[:1].upper() + found.batch[1:])
        if self._is_new("numbers", found.compared):
            self._show_numbers(found.compared)
        if self._is_new("rows", found.weighed, found.weighing):
            self._show_rows(found.weighed)
        if self._is_new("without", found.left):
            self._show_without(found.left, found.weighed)
        errors = map(words, found.failures)
        say(self.wrong, "\n".join(text[:1].upper() + text[1:] for text in errors))

    def _is_new(self, part: str, *what: object) -> bool:
        """Whether a part says something else by now: what is made anew loses the focus."""
        before = self._shown.get(part)
        self._shown[part] = what
        return before != what

    def _show_numbers(self, found: StepCompared | None) -> None:
        self.numbers.clear()
        self.layer.clear()
        say(self.against, "")
        if found is None:
            return
        self.numbers.add(self.tr("loss"), change(found.loss))
        self.numbers.add(self.tr("gradient norm"), change(found.gradient))
        if found.layers:
            self._show_layer(found)
        count = found.run - found.first
        steps = count_of(count, self.tr("step"))
        against = self.tr("The numbers on the left are medians of the {} before.").format(steps)
        only = self.tr("The numbers on the left are those of the step before.")
        say(self.against, (against if count > 1 else only) if count else "")

    def _show_layer(self, found: StepCompared) -> None:
        layer = found.layers[0]
        if not has_grown(layer):
            self.layer.add(self.tr("No layer moved more than before"), "")
            return
        ref = TensorRef.parse(layer.variable)
        reveal = partial(commands.reveal, self._workspace, ref.op)
        link = Link(self._theme, ref.short, "training.step.layer")
        link.clicked.connect(reveal)
        self.layer.add_link(self.tr("Moved more:"), link)
        self.layer.add(self.tr("update / weight"), change(layer.update))
        self.layer.add(self.tr("gradient norm"), change(layer.gradient))

    def _show_rows(self, found: RowsWeighed | None) -> None:
        self.rows.clear()
        self.card.setVisible(self._clicked.weighing)
        if self._clicked.weighing:
            self.card.say(self.tr("Looking at the rows…"), "", tone="selection")
        elif found is not None and found.rows:
            self._say_verdict(found)
            self._list_rows(found)

    def _say_verdict(self, found: RowsWeighed) -> None:
        said, links = verdict(found), list[LinkSpec]()
        if said.row is not None:
            place = said.row.place
            see = partial(commands.show_batch_row, self._workspace, place)
            links.append((self.tr("See the row"), "training.step.see", see))
            leave = partial(self._clicked.leave_out, place)
            links.append((self.tr("Without it"), "training.step.leave_out", leave))
        hint = ""
        if found.looked < found.size:
            hint = self.tr("{:,} of {:,} rows were looked at.").format(found.looked, found.size)
            links.append(
                (self.tr("All of them"), "training.step.all", lambda: self._clicked.weigh())
            )
        self.card.say(said.title, said.text, links, hint, said.tone)

    def _list_rows(self, found: RowsWeighed) -> None:
        if found.size == 1:
            return
        by = self.tr("share of the gradient") if found.adds_up else self.tr("gradient norm alone")
        self.rows.add(self.tr("row"), f"{by} · {self.tr('loss')}", code=False)
        for row in found.rows[:ROWS]:
            much = number(row.norm) if row.share is None else percent(row.share)
            link = Link(self._theme, f"{row.row:,}", f"training.step.row.{row.place}")
            link.setAccessibleName(self.tr("See row {}").format(row.row))
            link.clicked.connect(partial(commands.show_batch_row, self._workspace, row.place))
            self.rows.add_link("", link, f"{much} · {number(row.loss)}")

    def _show_without(self, found: LeftOut | None, weighed: RowsWeighed | None) -> None:
        self.without.clear()
        if found is None or weighed is None:
            return
        rows = {row.place: row.row for row in weighed.rows}
        names = ", ".join(f"{rows.get(place, place):,}" for place in found.places)
        self.without.add(self.tr("Without row {}").format(names), "", tone_is_text=True)
        real, other = found.real, found.without
        self.without.add(self.tr("loss"), pair(real.loss, other.loss))
        self.without.add(self.tr("gradient norm"), pair(real.norm, other.norm))
        self.without.add(self.tr("next step's loss"), pair(real.next_loss, other.next_loss))


class Lines(QWidget):
    """A caption on the left and numbers on the right of each line."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, GRID // 2, 0, 0)
        self._column.setSpacing(0)
        self.lines: list[tuple[str, str]] = []
        self.hide()

    def clear(self) -> None:
        """No line, and no room for any."""
        self.lines = []
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.hide()

    def add(self, caption: str, said: str, code: bool = True, tone_is_text: bool = False) -> None:
        left = Text(self._theme, "text" if tone_is_text else "muted")
        left.set_text(caption)
        self._add(caption, left, said, code)

    def add_link(self, caption: str, link: Link, said: str = "") -> None:
        """A line whose left side can be clicked."""
        left = QWidget()
        row = QHBoxLayout(left)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        if caption:
            text = Text(self._theme, "muted")
            text.set_text(caption)
            text.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            row.addWidget(text)
        row.addWidget(link)
        row.addStretch(1)
        self._add(link.text(), left, said, code=True)

    def _add(self, caption: str, left: QWidget, said: str, code: bool) -> None:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(left, 1)
        if said:
            right = Text(self._theme, "text" if code else "muted", mono(12) if code else sans())
            right.set_text(said)
            right.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            row.addWidget(right)
        self._column.addWidget(line)
        self.lines.append((caption, said))
        self.show()


def say(label: Wrapped, text: str) -> None:
    """Show it, or no line at all."""
    label.setText(text)
    label.setVisible(bool(text))


def has_grown(layer: LayerChange) -> bool:
    """Whether its update, or where it has none its gradient, is more than before; or nothing is
    known of before."""
    of = layer.update if layer.update.here else layer.gradient
    return of.before is None or of.here is None or of.here > of.before


def change(of: NumberChange) -> str:
    """ "0.201 → 1.32"."""
    return number(of.here) if of.before is None else pair(of.before, of.here)


def pair(before: float | None, here: float | None) -> str:
    return f"{number(before)} → {number(here)}"
