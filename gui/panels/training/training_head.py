"""The top of the training panel: how many steps, until when, Train, and how far it is."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gradstep.gui import commands
from gradstep.gui.actions.action_record import can_keep_values, shown_key
from gradstep.gui.actions.action_table import BY_ID, run
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID, Tone, mono
from gradstep.gui.model.training import MOST_STEPS, Training
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.training.copy_button import CopyButton
from gradstep.gui.panels.widgets.breaking_row import BreakingRow
from gradstep.gui.panels.widgets.pill import Pill
from gradstep.gui.panels.widgets.progress_line import ProgressLine
from gradstep.gui.panels.widgets.small_labels import Link, Text

SMOOTHINGS = (0, 10, 100, 1000)  # steps
NARROW = 760  # pixels; below, the line is broken in two


class TrainingHead(BreakingRow):
    """looked(): the user looks at the curves otherwise: `log`, `smoothing`. scale: what chooses
    them, for the panel to place."""

    looked = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(NARROW)
        self._workspace, self._training = workspace, workspace.training
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.rows.addLayout(self._asking(), 1)
        self.rows.addLayout(self._taking())
        self.scale = self._scale()
        self.bar = ProgressLine(lambda: workspace.theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self.rows)
        column.addWidget(self.bar)
        self.refresh()

    @property
    def log(self) -> bool:
        """Whether the axis of numbers is logarithmic."""
        return self._log.isChecked()

    @property
    def smoothing(self) -> int:
        """Over how many steps curves are smoothed; 0 for not at all."""
        return SMOOTHINGS[self._smoothing.currentIndex()]

    def _asking(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        self.steps = QLineEdit()
        self.steps.setObjectName("training.steps")
        self.steps.setAccessibleName(self.tr("How many steps"))
        self.steps.setToolTip(self.tr("How many steps Train makes, such as 200, 10,000 or 1e6"))
        self.steps.setFont(mono(12))
        self.steps.setFixedWidth(88)
        self.steps.textEdited.connect(self._note_wish)
        self.steps.returnPressed.connect(lambda: commands.train(self._workspace))
        self.unit = QComboBox()
        self.unit.setObjectName("training.unit")
        self.unit.setAccessibleName(self.tr("Steps or epochs"))
        self.unit.addItems([self.tr("steps"), self.tr("epochs")])
        self.unit.setToolTip(self.tr("In an epoch all rows of the document's data are fed once"))
        self.unit.activated.connect(self._note_unit)
        self.until = QLineEdit()
        self.until.setObjectName("training.until")
        self.until.setAccessibleName(self.tr("Until this holds"))
        self.until.setPlaceholderText(self.tr("or until: loss < 0.1"))
        self.until.setToolTip(
            plain(
                self.tr(
                    "A condition, as of a breakpoint, that ends training at the step in which it "
                    'holds. loss is the first one; x["name:0"] is any tensor.'
                )
            )
        )
        self.until.setFont(mono(12))
        self.until.setFixedWidth(176)
        self.until.textEdited.connect(self._note_wish)
        self.until.returnPressed.connect(lambda: commands.train(self._workspace))
        patient = Text(lambda: self._workspace.theme, "muted")
        patient.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        patient.set_text(self.tr("patience"))
        self.patience = QLineEdit()
        self.patience.setObjectName("training.patience")
        self.patience.setAccessibleName(self.tr("Patience, in steps"))
        self.patience.setPlaceholderText(self.tr("any"))
        self.patience.setToolTip(
            self.tr("Early stopping: end once the loss has not become less for so many steps")
        )
        self.patience.setFont(mono(12))
        self.patience.setFixedWidth(56)
        self.patience.textEdited.connect(self._note_wish)
        self.patience.returnPressed.connect(lambda: commands.train(self._workspace))
        self.train = QPushButton()
        self.train.setObjectName("training.train")
        self.train.clicked.connect(self._train_or_pause)
        self.said = Text(lambda: self._workspace.theme, "muted")
        self.said.setObjectName("training.said")
        self.said.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        for widget in (self.train, self.steps, self.unit, self.until, patient, self.patience):
            row.addWidget(widget)
        self.why = Link(lambda: self._workspace.theme, self.tr("Why?"), "training.why")
        self.why.setAccessibleName(self.tr("Why is the loss not a number?"))
        self.why.clicked.connect(self._ask_why)
        self.keep = Link(lambda: self._workspace.theme, self.tr("Keep values"), "training.keep")
        self.keep.set_tip(BY_ID["graph.keep_values"].tip)
        self.keep.clicked.connect(lambda: run("graph.keep_values", self._workspace))
        row.addWidget(self.said)
        row.addWidget(self.why)
        row.addWidget(self.keep)
        row.addStretch(1)
        return row

    def _scale(self) -> QWidget:
        scale = QWidget()
        row = QHBoxLayout(scale)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        self._log = Pill(self._workspace, self.tr("Log"), "training.log")
        self._log.setToolTip(self.tr("Logarithmic axis for the numbers"))
        self._log.toggled.connect(self.looked)
        self._smoothing = QComboBox()
        self._smoothing.setObjectName("training.smoothing")
        self._smoothing.setAccessibleName(self.tr("Smoothing"))
        mean = self.tr("mean of {:,}")
        words = [self.tr("every step"), *(mean.format(n) for n in SMOOTHINGS[1:])]
        self._smoothing.addItems(words)
        self._smoothing.setToolTip(
            self.tr("A line for every step, or for the mean of so many up to it")
        )
        self._smoothing.currentIndexChanged.connect(self.looked)
        for widget in (self._log, self._smoothing):
            row.addWidget(widget)
        return scale

    def _taking(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        self.follow = QPushButton(self.tr("Follow"))
        self.follow.setObjectName("training.follow")
        self.follow.setAccessibleName(self.tr("Follow more numbers"))
        self.follow.setMenu(QMenu(self.follow))
        self.copy = CopyButton("training.copy")
        for widget in (self.follow, self.copy):
            row.addWidget(widget)
        row.addStretch(0)
        return row

    def refresh(self) -> None:
        """Say everything anew."""
        training = self._training
        by_epochs = training.by_epochs and training.per_epoch > 0
        wanted = training.epochs if by_epochs else training.steps
        if read_steps(self.steps.text()) != wanted and not training.misread:
            self.steps.setText(f"{wanted:,}")
        self.unit.setCurrentIndex(int(by_epochs))
        self.unit.setEnabled(training.per_epoch > 0 and not training.busy)
        if self.until.text().strip() != training.until:
            self.until.setText(training.until)
        if (read_steps(self.patience.text()) or 0) != training.patience:
            self.patience.setText(f"{training.patience:,}" if training.patience else "")
        self.train.setText(self.tr("Pause") if training.busy else self.tr("Train"))
        self.train.setAccessibleName(self.train.text())
        row = BY_ID["run.pause" if training.busy else "run.train"]
        need = "" if training.busy else row.enabled.obstacle(self._workspace)
        tip = f"{row.tip}  ({shown_key(row.keys[0])})"
        self.train.setToolTip(plain(f"{tip}\nNot now: {need}" if need else tip))
        self.train.setEnabled(training.busy or row.enabled(self._workspace))
        for field in (self.steps, self.until, self.patience):
            field.setEnabled(not training.busy)
        self.say()

    def say(self) -> None:
        """How far it is, or how it went."""
        training = self._training
        self.said.set_text(*progress_words(training))
        self.why.setVisible(training.lost is not None)
        self.keep.setVisible(training.made > 0 and can_keep_values(self._workspace))
        share = training.made / training.total if training.busy and training.total else 0.0
        self.bar.show_share(share)

    def _ask_why(self) -> None:
        lost = self._training.lost
        if lost is not None:
            commands.say_why_value(self._workspace, lost)

    def _note_wish(self, *_: object) -> None:
        self._training.until = self.until.text().strip()
        self._training.failure = None  # of what was wished for before
        steps, patience = read_steps(self.steps.text()), self.patience.text().strip()
        self._training.patience = read_steps(patience)
        self._training.misread = ""
        if not steps:
            self._training.misread = self.tr("Steps are a whole number, such as 200 or 1e6")
        elif patience and not self._training.patience:
            words = self.tr("Patience is a whole number of steps, such as 100; nothing for any")
            self._training.misread = words
        if self._training.misread:
            self.said.set_text(self._training.misread, "problem")
        else:
            if self.unit.currentIndex():
                self._training.epochs = steps
            else:
                self._training.steps = steps
            self.say()

    def _note_unit(self, unit: int) -> None:
        self._training.by_epochs = bool(unit)
        self.refresh()

    def _train_or_pause(self) -> None:
        (commands.pause if self._training.busy else commands.train)(self._workspace)


def progress_words(training: Training) -> tuple[str, Tone]:
    """What to say of it, and its tone."""
    if training.failure is not None:
        failure = training.failure
        return ". ".join(filter(None, (failure.message, _sentence(failure.hint)))), "problem"
    made = count_of(training.made, "step")
    if training.busy:
        done, epoch = f"{training.made:,} of {training.total:,} steps", _epoch_words(training)
        if not training.rate:
            return f"{done}{epoch}", "muted"
        left = f" · {time_words(training.remaining)} left"
        return f"{done}{left}{epoch} · {training.rate:,.0f} steps/s", "muted"
    if training.ended:
        return f"Stopped after {made}: {training.ended}", "problem"
    if not training.made:
        return "", "muted"
    return f"{made} made" + (f" · {training.rate:,.0f} steps/s" if training.rate else ""), "muted"


def _epoch_words(training: Training) -> str:
    """ " · epoch 3, batch 17 of 45" of a document with data; of the last step that is known."""
    if not training.per_epoch or training.last < 0:
        return ""
    epoch, batch = divmod(training.last, training.per_epoch)
    return f" · epoch {epoch + 1:,}, batch {batch + 1:,} of {training.per_epoch:,}"


def read_steps(text: str) -> int:
    """The number that "200", "10,000", "10 000" or "1e6" says; 0 for what says none that can be
    made."""
    try:
        number = float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        return 0
    return int(number) if number == number // 1 and 1 <= number <= MOST_STEPS else 0


def time_words(seconds: float) -> str:
    """ "8 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _sentence(text: str) -> str:
    return text and f"{text[0].upper()}{text[1:]}"
