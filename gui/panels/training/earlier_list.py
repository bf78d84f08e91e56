"""The trainings before this one by name: shown or not, renamed, dropped."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QInputDialog,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstep.core.debug.breaks.missing_number import is_not_there
from gradstep.gui.look.icons import icon
from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.model.earlier_trainings import EarlierTraining, EarlierTrainings
from gradstep.gui.model.number_text import scalar
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader, Text, ThemeSource


class EarlierList(QWidget):
    """changed(): another one is shown, called otherwise or dropped."""

    changed = Signal()

    def __init__(self, theme: ThemeSource, trainings: EarlierTrainings) -> None:
        super().__init__()
        self.setObjectName("training.earlier")
        self.theme, self.trainings = theme, trainings
        self._listed: list[EarlierTraining] = []
        self._rows: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, GRID, 0, 0)
        self._column.setSpacing(2)
        self._column.addWidget(SectionHeader(theme, self.tr("Earlier trainings")))
        self.hide()

    def refresh(self, text: str, anew: bool = False) -> None:
        """A row for each; with what the curve `text` ended at. anew: even if none came or went."""
        if self._listed == [*self.trainings] and not anew:
            return
        self._listed = [*self.trainings]
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = [_Row(self, training, text) for training in self._listed]
        for row in self._rows:
            self._column.addWidget(row)
        self.setVisible(bool(self._rows))

    def show_training(self, training: EarlierTraining, shown: bool) -> None:
        """The user wants to see it, or not."""
        training.shown = shown
        self.changed.emit()

    def rename(self, training: EarlierTraining) -> None:
        """Ask what to call it."""
        asked = self.tr("What to call this training")
        title = self.tr("Rename a training")
        name, given = QInputDialog.getText(self, title, asked, text=training.name)
        if given and name.strip():
            training.name = name.strip()
            self._listed = []
            self.changed.emit()

    def drop(self, training: EarlierTraining) -> None:
        """Forget it."""
        self.trainings.drop(training)
        self.changed.emit()


class _Row(QWidget):
    def __init__(self, owner: EarlierList, training: EarlierTraining, text: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        theme, number = owner.theme, training.number
        shown = Check(theme, "", f"training.earlier.show.{number}")
        shown.setAccessibleName(owner.tr("Show training {}").format(training.name))
        shown.setChecked(training.shown)
        shown.toggled.connect(lambda on: owner.show_training(training, on))
        shown.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row.addWidget(shown)
        middle = Qt.TextElideMode.ElideMiddle  # trainings are told apart by their ends
        title = f"training.earlier.name.{number}"
        name = Link(theme, training.name, title, "text", elide=middle)
        name.set_tip(owner.tr("Call it otherwise"))
        name.clicked.connect(lambda: owner.rename(training))
        row.addWidget(name)
        last = Text(theme, "muted", mono(12))
        last.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        last.set_text(_last(training, text))
        row.addWidget(last)
        row.addStretch(1)
        drop = QToolButton()
        drop.setObjectName(f"training.earlier.drop.{number}")
        drop.setAutoRaise(True)
        drop.setAccessibleName(owner.tr("Forget training {}").format(training.name))
        drop.setToolTip(owner.tr("Forget it"))
        drop.setIcon(icon("close", theme(), theme().muted))
        drop.clicked.connect(lambda: owner.drop(training))
        row.addWidget(drop)


def _last(training: EarlierTraining, text: str) -> str:
    """What a curve ended at."""
    points = training.points_of(text)
    if points is None or not len(points) or is_not_there(points.numbers[-1:])[0]:
        return ""
    return scalar(float(points.numbers[-1]))
