"""The top line of the profile: which runs, measuring them, what came out, and how to look at it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
)

from gradstep.core.protocol.messages import ErrorInfo
from gradstep.gui import commands
from gradstep.gui.actions.action_record import shown_key
from gradstep.gui.actions.action_table import BY_ID
from gradstep.gui.look.device_text import device_words
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.number_text import byte_size, duration
from gradstep.gui.model.profiler import BYTES, FAST, RECORDED, TIME, Measured
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.breaking_row import BreakingRow
from gradstep.gui.panels.widgets.pill import Pill
from gradstep.gui.panels.widgets.small_labels import Text

GROUPINGS = ("scope", "flat", "phase", "type")
NARROW = 840  # pixels; below, the line is broken in three


class ProfileHead(BreakingRow):
    """grouped(grouping): the user groups the table otherwise; see costs.PATHS. turned(page): the
    user wants to see the costs (0), or what ran (1)."""

    grouped = Signal(str)
    turned = Signal(int)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(NARROW)
        self._workspace = workspace
        self._profiler = workspace.profiler
        # The line breaks before it is cut off, so it asks for no width by itself.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.rows.addLayout(self._measuring(), 1)
        self.rows.addLayout(self._looking())
        self.rows.addLayout(self._turning())
        self.setLayout(self.rows)
        self.refresh()

    def _measuring(self) -> QHBoxLayout:
        row = self._row()
        tips = {
            RECORDED: self.tr("Runs as the debugger makes them: each value has its own place"),
            FAST: self.tr("Runs for speed: rewritten by passes, memory used again"),
        }
        words = {RECORDED: self.tr("Recorded"), FAST: self.tr("Fast")}
        self.modes = self._choice(row, "mode", words, tips)
        self.modes.idClicked.connect(lambda n: self._profiler.choose(mode=(RECORDED, FAST)[n]))
        self.measure = QPushButton()
        self.measure.setObjectName("profile.measure")
        self.measure.clicked.connect(self._measure_or_cancel)
        row.addWidget(self.measure)
        self.summary = Text(lambda: self._workspace.theme)
        self.summary.setObjectName("profile.summary")
        row.addWidget(self.summary, 1)
        return row

    def _looking(self) -> QHBoxLayout:
        row = self._row()
        words = {TIME: self.tr("time"), BYTES: self.tr("bytes")}
        self.word = Text(lambda: self._workspace.theme, "muted")
        self.word.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.word.set_text(self.tr("By"))
        row.addWidget(self.word)
        self.measures = self._choice(row, "by", words, {})
        self.measures.idClicked.connect(lambda n: self._profiler.choose(by=(TIME, BYTES)[n]))
        self.grouping = QComboBox()
        self.grouping.setObjectName("profile.grouping")
        self.grouping.setAccessibleName(self.tr("How the table is grouped"))
        names = (self.tr("by scope"), self.tr("flat"), self.tr("by phase"), self.tr("by type"))
        for grouping, name in zip(GROUPINGS, names, strict=True):
            self.grouping.addItem(name, grouping)
        self.grouping.currentIndexChanged.connect(lambda n: self.grouped.emit(GROUPINGS[n]))
        row.addWidget(self.grouping)
        row.addStretch(0)
        return row

    def _turning(self) -> QHBoxLayout:
        row = self._row()
        words = {"costs": self.tr("Costs"), "ran": self.tr("What ran")}
        self.sides = self._choice(row, "side", words, {})
        self.sides.button(0).setChecked(True)
        self.sides.idClicked.connect(self.turned)
        row.addStretch(0)
        return row

    def _row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        return row

    def _choice(
        self, row: QHBoxLayout, name: str, words: dict[str, str], tips: dict[str, str]
    ) -> QButtonGroup:
        """One of two pills."""
        group = QButtonGroup(self)
        for number, (value, text) in enumerate(words.items()):
            pill = Pill(self._workspace, text, f"profile.{name}.{value}")
            pill.setToolTip(plain(tips.get(value, "")))
            group.addButton(pill, number)
            row.addWidget(pill)
        return group

    def refresh(self) -> None:
        """Say everything anew."""
        profiler, space = self._profiler, self._workspace
        self.modes.button((RECORDED, FAST).index(profiler.mode)).setChecked(True)
        self.measures.button((TIME, BYTES).index(profiler.by)).setChecked(True)
        self.measure.setText(self.tr("Cancel") if profiler.busy else self.tr("Measure"))
        self.measure.setAccessibleName(self.measure.text())
        row = BY_ID["run.pause" if profiler.busy else "run.measure"]
        self.measure.setToolTip(plain(f"{row.tip}  ({shown_key(row.keys[0])})"))
        self.measure.setEnabled(profiler.busy or space.program is not None)
        self.summary.set_text(*self._summary())

    def _summary(self) -> tuple[str, Tone]:
        """The text, and its tone."""
        profiler = self._profiler
        measured, failure = profiler.measured, profiler.failure
        if profiler.busy:
            return " ".join(filter(None, (self.tr("measuring…"), profiler.progress))), "muted"
        if failure is not None:
            return failure_words(failure), "problem"
        if measured is None:
            return "", "muted"
        words = self._result(measured)
        if profiler.is_stale:
            return self.tr("out of date, measure again · {}").format(words), "muted"
        return words, "text"

    def _result(self, measured: Measured) -> str:
        profile = measured.profile
        if self._profiler.by == TIME:
            inside = sum(row.seconds for row in profile.rows)
            part = self.tr("{} a run, {} of it in operations")
            more = self.tr("{} a run, {} where each operation is timed by itself")
            whole = part if inside <= profile.seconds else more  # few calls for many of them
            words = whole.format(duration(profile.seconds), duration(inside))
        else:
            made = sum(row.bytes_made for row in profile.rows)
            words = self.tr("{} made a run").format(byte_size(made))
        runs = self.tr("median of {} runs").format(profile.runs)
        return " · ".join(filter(None, (words, runs, device_words(profile.device), profile.text)))

    def _measure_or_cancel(self) -> None:
        (commands.pause if self._profiler.busy else commands.measure)(self._workspace)


def failure_words(failure: ErrorInfo) -> str:
    """Where it failed, why, and what to do."""
    place = f"{failure.node}: " if failure.node else ""
    hint = f". {failure.hint[0].upper()}{failure.hint[1:]}" if failure.hint else ""
    return f"{place}{failure.message}{hint}"
