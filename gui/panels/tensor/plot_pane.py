"""Lines and histograms with one line of words under them; pyqtgraph is loaded with the first."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import DrawLines, TensorLines, TensorSlice, TensorStatistics
from gradstep.gui.look.theme import SMALL, Tone, mono
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.engine_questions import Questions
from gradstep.gui.panels.tensor.panel_buttons import switch
from gradstep.gui.panels.widgets.small_labels import Text, ThemeSource

if TYPE_CHECKING:
    from gradstep.gui.panels.tensor.plot_views import HistogramPlot, LinePlot

BINS = 64
_PLOTS = "gradstep.gui.panels.tensor.plot_views"
LARGEST_DRAWN = 1e300  # beyond it the width of an axis overflows
TOO_LARGE = "the numbers are too large for an axis; the table shows them"
_LINES = 8


class PlotLoader:
    """pyqtgraph, which takes long enough to load for a window to stand still."""

    _loaded: ClassVar[set[str]] = set()

    def __init__(self, pane: QWidget, said: Text, module: str = _PLOTS) -> None:
        self._background, self._said, self._module = Background(pane), said, module
        self._is_asked = False

    def are_loaded(self, then: Callable[[], None]) -> bool:
        """Or else `then` is called when they are, once."""

        def loaded(_: object) -> None:
            PlotLoader._loaded.add(self._module)
            then()

        if self._module not in self._loaded and not self._is_asked:
            self._is_asked = True
            self._said.set_text("loading the plots…")
            self._background.run(
                lambda: import_module(self._module),
                loaded,
                lambda error: self._said.set_text(error.message, "problem"),
            )
        return self._module in self._loaded


class LinePane(QWidget):
    """The rows of a table, or a vector, over the index."""

    def __init__(self, theme: ThemeSource, questions: Questions) -> None:
        super().__init__()
        self._theme, self._questions = theme, questions
        self.said = line_of_words(self, theme)
        self._plots = PlotLoader(self, self.said)
        self.plot: LinePlot | None = None
        self._of: TensorSlice | None = None
        self._tone: Tone = "forward"
        self._reply: tuple[TensorLines, tuple[Buffer, ...]] | None = None
        self._is_too_high = False

    def clear(self) -> None:
        """Nothing is known of what is to be shown."""
        self._reply = None
        self.said.set_text("")
        if self.plot is not None:
            self.plot.clear()

    def show_lines(self, of: TensorSlice, tone: Tone) -> None:
        """A slice, in the colour of values or gradients."""
        self._of, self._tone = of, tone
        width = max(2 * self.width(), 512)
        message = DrawLines(of=of, lines=_LINES, width=width)
        self._questions.ask("lines", message, self._keep)

    def _keep(self, reply: TensorLines, buffers: tuple[Buffer, ...]) -> None:
        self._reply = reply, buffers
        self.paint_again()

    def paint_again(self) -> None:
        """In the theme's colours."""
        if self._reply is None:
            return
        if self.plot is None and not self._plots.are_loaded(self.paint_again):
            return
        if self.plot is None:
            from gradstep.gui.panels.tensor.plot_views import LinePlot

            self.plot = LinePlot(self._theme, "tensor.lines")
            place_plot(self, self.plot, self.tr("Lines"))
            self.plot.pointed.connect(lambda text: self.said.set_text(text or self._remark))
        reply, buffers = self._reply
        shape = reply.lines, -(-reply.length // reply.block)
        least, most = (np.frombuffer(buffer, np.float64).reshape(shape) for buffer in buffers[:2])
        kinds = np.frombuffer(buffers[2], np.uint8).reshape(shape)
        self.plot.restyle()
        self._is_too_high = bool((np.abs([least, most]) > LARGEST_DRAWN).any())
        if self._is_too_high:
            self.plot.clear()
        else:
            self.plot.show_lines(least, most, kinds, reply.block, self._tone)
        self.said.set_text(self._remark)

    @property
    def _remark(self) -> str:
        if self._reply is None:
            return ""
        if self._is_too_high:
            return TOO_LARGE
        reply = self._reply[0]
        parts = [f"the first {reply.lines} of {reply.total:,} rows"] * (reply.total > reply.lines)
        parts += [f"a point is the range of {reply.block:,} elements"] * (reply.block > 1)
        return "; ".join(parts)


class HistogramPane(QWidget):
    """How many elements lie where. log: the switch between counts and their logarithms."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self.said = line_of_words(self, theme)
        self._plots = PlotLoader(self, self.said)
        self.log = switch(self.tr("Log"), "tensor.log", self.tr("Heights by the logarithm"))
        self.log.toggled.connect(self.paint_again)
        self.plot: HistogramPlot | None = None
        self._tone: Tone = "forward"
        self._found: TensorStatistics | None = None

    def clear(self) -> None:
        """It is still being counted."""
        self._found = None
        self.said.set_text("…")
        if self.plot is not None:
            self.plot.clear()

    def show_statistics(self, found: TensorStatistics, tone: Tone) -> None:
        """What was counted."""
        self._found, self._tone = found, tone
        self.paint_again()

    def paint_again(self) -> None:
        """In the theme's colours."""
        found = self._found
        if found is None:
            return
        if self.plot is None and not self._plots.are_loaded(self.paint_again):
            return
        if self.plot is None:
            from gradstep.gui.panels.tensor.plot_views import HistogramPlot

            self.plot = HistogramPlot(self._theme, "tensor.histogram_plot")
            place_plot(self, self.plot, self.tr("Histogram"))
            self.plot.pointed.connect(lambda text: self.said.set_text(text or self._remark))
        self.plot.restyle()
        if found.stats.minimum is None or found.stats.maximum is None or self._is_too_wide:
            self.plot.clear()
        else:
            counts = np.array(found.histogram)
            ends = found.stats.minimum, found.stats.maximum
            self.plot.show_counts(counts, *ends, self._tone, self.log.isChecked())
        self.said.set_text(self._remark)

    @property
    def _is_too_wide(self) -> bool:
        stats = None if self._found is None else self._found.stats
        ends = () if stats is None else (stats.minimum, stats.maximum)
        return any(abs(end) > LARGEST_DRAWN for end in ends if end is not None)

    @property
    def _remark(self) -> str:
        """What the bars leave out."""
        if self._found is None:
            return "…"
        stats = self._found.stats
        if stats.minimum is None:
            return "no element is a finite number"
        if self._is_too_wide:
            return TOO_LARGE
        out = [f"{n:,} {name}" for n, name in ((stats.nans, "NaN"), (stats.infs, "Inf")) if n]
        return f"not counted: {', '.join(out)}" if out else ""


def line_of_words(pane: QWidget, theme: ThemeSource) -> Text:
    column = QVBoxLayout(pane)
    column.setContentsMargins(12, 0, 12, 4)
    column.setSpacing(0)
    text = Text(theme, "muted", mono(SMALL))
    column.addWidget(text)
    return text


def place_plot(pane: QWidget, plot: QWidget, name: str) -> None:
    plot.setAccessibleName(name)
    layout = pane.layout()
    assert isinstance(layout, QVBoxLayout)
    layout.insertWidget(0, plot, 1)
