"""One number of a tensor over the recorded runs: which one, its line, and where a click leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import History, ReadHistory, TensorSlice
from gradstep.core.protocol.vocabulary import HistoryKind
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.engine_questions import Questions
from gradstep.gui.panels.tensor.plot_pane import (
    LARGEST_DRAWN,
    TOO_LARGE,
    PlotLoader,
    line_of_words,
    place_plot,
)
from gradstep.gui.panels.widgets.small_labels import ThemeSource

if TYPE_CHECKING:
    from gradstep.gui.panels.tensor.history_plot import HistoryPlot

_TITLES: dict[HistoryKind, str] = {
    "element": "element",
    "norm": "norm",
    "mean": "mean",
    "minimum": "min",
    "maximum": "max",
}
_MODULE = "gradstep.gui.panels.tensor.history_plot"


class HistoryPane(QWidget):
    """what: the box that says which number. clicked(run, step): the debugger is to go there.
    wanted(): another number was chosen."""

    clicked = Signal(int, int)
    wanted = Signal()

    def __init__(self, theme: ThemeSource, questions: Questions) -> None:
        super().__init__()
        self._theme, self._questions = theme, questions
        self.said = line_of_words(self, theme)
        self._plots = PlotLoader(self, self.said, _MODULE)
        self.plot: HistoryPlot | None = None
        self.what = QComboBox()
        self.what.setObjectName("tensor.what")
        self.what.setAccessibleName(self.tr("What is followed over the runs"))
        self.what.setToolTip(plain(self.tr("The norm of the slice, its first element, …")))
        for kind in get_args(HistoryKind):
            self.what.addItem(_TITLES[kind], kind)
        self.what.setCurrentIndex(self.what.findData("norm"))
        self.what.activated.connect(lambda _: self.wanted.emit())
        self._tone: Tone = "forward"
        self._here = 0, 0
        self._found: History | None = None

    def clear(self) -> None:
        """Nothing is known of what is to be shown."""
        self._found = None
        self.said.set_text("…")
        if self.plot is not None:
            self.plot.clear()

    def show_history(self, of: TensorSlice, here: tuple[int, int], tone: Tone) -> None:
        """Of a slice. here: the run and step at which the debugger stands."""
        self._here, self._tone = here, tone
        message = ReadHistory(of=of, what=self.what.currentData(), points=max(self.width(), 64))
        self._questions.ask("history", message, self._keep)

    def _keep(self, found: History, buffers: tuple[Buffer, ...]) -> None:
        self._found = found
        self.paint_again()

    def paint_again(self) -> None:
        """In the theme's colours."""
        if self._found is None:
            return
        if self.plot is None and not self._plots.are_loaded(self.paint_again):
            return
        if self.plot is None:
            self._make_plot()
        assert self.plot is not None
        self.plot.restyle()
        if self._is_too_high:
            self.plot.clear()
        else:
            self.plot.show_history(self._found, self._here, self._tone)
        self.said.set_text(self._remark)

    def _make_plot(self) -> None:
        from gradstep.gui.panels.tensor.history_plot import HistoryPlot

        self.plot = HistoryPlot(self._theme, "tensor.history_plot")
        place_plot(self, self.plot, self.tr("History"))
        self.plot.pointed.connect(lambda text: self.said.set_text(text or self._remark))
        self.plot.clicked.connect(self.clicked)

    @property
    def _is_too_high(self) -> bool:
        values = () if self._found is None else self._found.values
        return any(abs(value) > LARGEST_DRAWN for value in values if value is not None)

    @property
    def _remark(self) -> str:
        """How much of it is known."""
        found = self._found
        if found is None:
            return "…"
        if self._is_too_high:
            return TOO_LARGE
        if not found.runs:
            return "no run that is recorded has a value of it"
        wrong = sum(value is None for value in found.values)
        parts = [f"{found.seen:,} of {found.total:,} runs"] * (found.seen < found.total)
        parts += [f"{wrong:,} without a finite number"] if wrong else []
        return "; ".join([*parts, "run by run; a click goes there"])
