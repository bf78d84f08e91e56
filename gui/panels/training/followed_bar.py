"""Over the curves of a training elsewhere that is followed: how far it is, what it saved, Stop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.followed_training import FollowedTraining
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.training.copy_button import CopyButton
from gradstep.gui.panels.widgets.pill import Pill
from gradstep.gui.panels.widgets.small_labels import Link, Text


class FollowedBar(QWidget):
    """Hidden while nothing is followed. With a document the pill chooses between its own training
    and this one."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("training.followed")
        self._workspace, self._followed = workspace, workspace.followed
        self._pill = Pill(workspace, "", "training.followed.shown", "selection", filled=True)
        self._pill.setToolTip(self.tr("Show this training, or that of the document"))
        self._pill.toggled.connect(self._followed.show)
        self.said = Text(lambda: workspace.theme, "muted")
        self.said.setObjectName("training.followed.said")
        self.saved = Link(lambda: workspace.theme, self.tr("Open"), "training.followed.open")
        self.saved.clicked.connect(self._open)
        self.copy = CopyButton("training.followed.copy")
        self.stop = QPushButton()
        self.stop.setObjectName("training.followed.stop")
        self.stop.clicked.connect(self._stop_or_close)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        row.setSpacing(GRID)
        row.addWidget(self._pill)
        row.addWidget(self.said, 1)
        row.addWidget(self.saved)
        row.addWidget(self.copy)
        row.addWidget(self.stop)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.refresh()

    def refresh(self) -> None:
        """Say everything anew."""
        followed = self._followed
        self.setVisible(followed.greeting is not None)
        self._pill.setVisible(self._workspace.is_open)
        self._pill.setText(followed.name)
        self._pill.setAccessibleName(self.tr("Show {}").format(followed.name))
        self._pill.setChecked(followed.shown)
        self.copy.setVisible(followed.shown or not self._workspace.is_open)
        self.stop.setText(self.tr("Stop") if followed.live else self.tr("Close"))
        tip = self.tr("Follow it no longer; the curves stay, and so does the training")
        self.stop.setToolTip(plain(tip if followed.live else self.tr("Put the curves away")))
        self.stop.setAccessibleName(self.stop.text())
        self.saved.setVisible(bool(followed.saved))
        if followed.saved:
            path = followed.saved[-1].path
            self.saved.setText(self.tr("Open {}").format(Path(path).name))
            self.saved.setAccessibleName(self.saved.text())
            self.saved.setToolTip(plain(path))
        self.say()

    def say(self) -> None:
        """How far it is, or how it went."""
        self.said.set_text(*followed_words(self._followed))

    def _open(self) -> None:
        self._followed.open_saved(self._followed.saved[-1])

    def _stop_or_close(self) -> None:
        (self._followed.stop if self._followed.live else self._followed.close)()


def followed_words(followed: FollowedTraining) -> tuple[str, Tone]:
    """What to say of it, and its tone."""
    greeting = followed.greeting
    if greeting is None:
        return "", "muted"
    if followed.ended:
        return followed.ended, "muted"
    if not followed.step:
        return f"Following {greeting.name}: its next step shows here", "muted"
    return f"Following {greeting.name}, step {followed.step:,}", "text"
