"""One tensor in the view that suits it, or that was chosen: slices of it, and elements found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QStackedWidget, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.protocol.error_records import info_of
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    DescribeTensor,
    ErrorInfo,
    FindElement,
    FoundElement,
    OtherTensor,
    TensorSlice,
    TensorStatistics,
)
from gradstep.gui import commands
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.engine_questions import Questions
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.value_place import element_here
from gradstep.gui.model.value_reader import read_now
from gradstep.gui.model.view_choice import KINDS, View, ViewKind, first_view, is_number
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.tensor.comparison_menu import ComparisonMenu
from gradstep.gui.panels.tensor.element_grid import ElementGrid
from gradstep.gui.panels.tensor.find_controls import FindControls
from gradstep.gui.panels.tensor.history_pane import HistoryPane
from gradstep.gui.panels.tensor.panel_buttons import button, gap, switch
from gradstep.gui.panels.tensor.picture_pane import PicturePane
from gradstep.gui.panels.tensor.plot_pane import BINS, HistogramPane, LinePane
from gradstep.gui.panels.tensor.slice_controls import SliceControls
from gradstep.gui.panels.tensor.statistics_list import PERCENTS, WIDTH, StatisticsList
from gradstep.gui.panels.tensor.table_pages import TablePages
from gradstep.gui.panels.tensor.tensor_saving import TensorSaving
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_MEASURED = 1 << 24  # elements up to which statistics are taken unasked
_WIDE = 3 * WIDTH  # pixels of a panel that has room for statistics


class TensorExplorer(QWidget):
    """controls: what stands over the view; copy, save, and said, a line for what was found or is
    wrong: beside what is known of the tensor. What is in view is asked for, however large it is.

    led(): another view is shown, or the same of another step; what is beside follows it."""

    led = Signal()

    def __init__(self, workspace: Workspace, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("tensor.explorer")
        self._questions = Questions(workspace.request, self._fail)
        self._value: TensorValue | None = None
        self.view: View | None = None
        self._views: dict[str, View] = {}  # tensor -> what the user chose for it
        self._index: tuple[int, ...] | None = None  # of the element that was gone to
        self._tone: Tone = "forward"
        self._part: TensorSlice | None = None  # what is shown
        self._workspace = workspace
        self.finder = FindControls(theme)
        self.slicer = SliceControls()
        self.minus = ComparisonMenu(workspace)
        self.minus.chosen.connect(self._choose_other)
        self.said = self.finder.said
        self.saving = TensorSaving(self, workspace, self.finder.say)
        self._make_views(theme)
        self.controls = self._made_controls()
        self._lay_out()
        workspace.bridge.state_changed.connect(self._engine_is)
        self.slicer.changed.connect(self._choose_view)
        self.slicer.failed.connect(lambda text: self.finder.say(text, wrong=bool(text)))
        self.finder.wanted.connect(self.look_for)
        self.statistics.wanted.connect(self.finder.look_for)

    # -- its parts ---------------------------------------------------------------------------------

    def _make_views(self, theme: ThemeSource) -> None:
        pages = TablePages(self._questions, lambda: self.grid.refresh())
        self.grid = ElementGrid(theme, pages, "tensor.elements")
        self.grid.setAccessibleName(self.tr("Elements"))
        self.grid.moved.connect(self._stand_at)
        self.grid.copied.connect(self._copy_selection)
        self.grid.edits = self._may_give
        self.grid.changed.connect(self._give)
        self.pictures = PicturePane(theme, self._questions)
        self.pictures.chosen.connect(self._choose_cell)
        self.lines = LinePane(theme, self._questions)
        self.histogram = HistogramPane(theme)
        self.history = HistoryPane(theme, self._questions)
        self.history.clicked.connect(self._go_to_moment)
        self.history.wanted.connect(self.look_again)
        self.statistics = StatisticsList(theme)
        self.statistics.measure = self._measure
        self._shown_by: dict[ViewKind, QWidget] = {
            "table": self.grid,
            "heat_map": self.pictures,
            "image": self.pictures,
            "line": self.lines,
            "histogram": self.histogram,
            "history": self.history,
        }

    def _made_controls(self) -> list[QWidget]:
        self.kinds = {kind: switch(title, f"tensor.{kind}") for kind, title in KINDS.items()}
        self._group = QButtonGroup(self)
        for each in self.kinds.values():
            self._group.addButton(each)
        self._group.buttonClicked.connect(self._choose_kind)
        self.copy = button(self.tr("Copy"), "tensor.copy", self.tr("Copy as NumPy text"))
        self.copy.clicked.connect(self._copy)
        tip = self.tr("Save as .npy, .npz, .csv or .png")
        self.save = button(self.tr("Save…"), "tensor.save", tip)
        self.save.clicked.connect(self._save)
        self.buttons = (self.minus, self.copy, self.save)
        kinds: list[QWidget] = [*self.kinds.values()]
        return [
            *kinds, self.histogram.log, self.history.what, gap(),
            *self.slicer.widgets, gap(), *self.finder.widgets,
        ]  # fmt: skip

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._stack = QStackedWidget()
        for widget in dict.fromkeys(self._shown_by.values()):
            self._stack.addWidget(widget)
        row.addWidget(self._stack, 1)
        row.addWidget(self.statistics)

    # -- what is shown -----------------------------------------------------------------------------

    def show_tensor(
        self, value: TensorValue | None, tone: Tone, marked: Collection[tuple[int, ...]] = ()
    ) -> None:
        """A tensor as of the current step; None while it is on its way. marked: indexes of elements
        that an error is about."""
        if value is None or self._value is None or value.ref != self._value.ref:
            self._questions.forget()
            self.pictures.forget()
            self.finder.say("")
            self._index, self._part = None, None
        self._value, self._tone, self.grid.marked = value, tone, frozenset(marked)
        known = value is not None and value.state == "known"
        for widget in (self._stack, self.statistics, *self.buttons, *self.controls):
            widget.setVisible(known)
        if value is not None and known:
            self._look(self._remembered(value))
        else:
            self.view = None
            self.grid.clear()

    def _remembered(self, value: TensorValue) -> View:
        """What was last chosen for this tensor, if it still fits; else what suits it."""
        view = self._views.get(value.ref)
        if view is None or view.picks.shape != value.shape:
            return first_view(value)
        return view if is_number(value.dtype) else replace(view, kind="table")

    def _choose_view(self, view: View) -> None:
        if self._value is not None:
            self._views[self._value.ref] = view
            self._look(view)

    def _choose_kind(self, chosen: QAbstractButton) -> None:
        kind = next(kind for kind, each in self.kinds.items() if each is chosen)
        if self.view is not None:
            self._choose_view(replace(self.view, kind=kind))

    def follow(self, value: TensorValue, view: View) -> None:
        """Show a tensor in this view, when it is shown."""
        self._views[value.ref] = view

    @property
    def depends_on_place(self) -> bool:
        """Whether what is shown may be another at another step of the same value."""
        view = self.view
        return view is not None and (view.kind == "history" or view.minus is not None)

    def _choose_other(self, other: OtherTensor | None) -> None:
        if self.view is not None:
            self._choose_view(replace(self.view, minus=other))

    def look_again(self) -> None:
        """Something was done that may have changed what is shown."""
        if self.view is not None and self._value is not None:
            self._look(self.view)

    def _look(self, view: View) -> None:
        assert self._value is not None
        self.view, numbers = view, is_number(self._value.dtype)
        for kind, each in self.kinds.items():
            each.setEnabled(numbers or kind == "table")
            each.setChecked(kind == view.kind)
        self.slicer.show_view(view, numbers)
        self.histogram.log.setVisible(view.kind == "histogram")
        self.history.what.setVisible(view.kind == "history")
        for widget in self.finder.widgets:
            widget.setVisible(view.kind != "history")  # which has no elements to be found
        if view.minus is not None:
            self.finder.say("")  # that it could not be taken, of another step
        self.minus.setEnabled(numbers)
        self.minus.show_chosen(self._value, view.minus)
        self._stack.setCurrentWidget(self._shown_by[view.kind])
        self._show_view(view, self._value)
        self._describe()
        if self._index is not None:
            self._go_to(self._index)
        self.led.emit()

    def _engine_is(self, state: str) -> None:
        """A new one knows of no question."""
        if state in ("starting", "dead"):
            self._questions.give_up()
            self._part = None
        elif state == "ready" and self._part is None and self.view is not None:
            self._look(self.view)

    def _show_view(self, view: View, value: TensorValue) -> None:
        part = view.part(value.ref)
        if part != self._part:  # what is seen of another would be taken for this one's
            self._part = part
            self.statistics.clear()
            for each in (self.pictures, self.lines, self.histogram, self.history):
                each.clear()
        if view.kind == "table":
            self.grid.show_view(part, view, view.shown_dtype(value.dtype), self._tone)
        elif view.kind == "line":
            self.lines.show_lines(part, self._tone)
        elif view.kind == "history":
            self.history.show_history(view.slice_of(value.ref), self._here, self._tone)
        elif view.kind != "histogram":
            self.pictures.show_view(value.ref, view.shown_dtype(value.dtype).value, view)

    @property
    def _here(self) -> tuple[int, int]:
        """Where the debugger stands."""
        stop = self._workspace.stop
        return (0, 0) if stop is None else (stop.run, stop.step)

    def _go_to_moment(self, run: int, step: int) -> None:
        self._workspace.control("run_to", f"{run}:{step}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        hidden = self.statistics.isHidden()
        if self.view is not None and hidden == (self.width() >= _WIDE):
            self._describe()

    def restyle(self) -> None:
        """The theme changed."""
        for each in (self.pictures, self.lines, self.histogram, self.history):
            each.paint_again()

    # -- statistics --------------------------------------------------------------------------------

    def _describe(self) -> None:
        """Take the statistics that are in view; of large tensors when that is asked for."""
        view, value = self.view, self._value
        if view is None or value is None or not is_number(value.dtype):
            self.statistics.hide()
            return
        self.statistics.setVisible(self.width() >= _WIDE)
        large = view.picks.size > _MEASURED
        if view.kind == "histogram":
            self._measure(() if large else PERCENTS)
        elif large:
            self.statistics.offer(view.picks.size)
        elif not self.statistics.isHidden():
            self._measure()

    def _measure(self, percents: Sequence[float] = PERCENTS) -> None:
        if self.view is not None and self._value is not None:
            part = self.view.part(self._value.ref)
            message = DescribeTensor(of=part, percents=percents, bins=BINS)
            self._questions.ask("statistics", message, self._measured)

    def _measured(self, found: TensorStatistics, buffers: tuple[Buffer, ...]) -> None:
        self.statistics.show_found(found)
        if self.view is not None and self.view.kind == "histogram":
            self.histogram.show_statistics(found, self._tone)

    # -- places in it ------------------------------------------------------------------------------

    def _stand_at(self, row: int, column: int) -> None:
        self._index = self.grid.index_of(row, column)

    def _choose_cell(self, position: tuple[int, ...], opened: bool) -> None:
        """A cell of a picture; twice: in the table."""
        if self.view is None:
            return
        self._index = self.view.index_of(self.pictures.with_channel(position))
        if opened:
            self._choose_view(replace(self.view, kind="table"))

    def _go_to(self, index: tuple[int, ...]) -> None:
        """Show an element, in the table or in the picture."""
        self._index = index
        position = None if self.view is None else self.view.position_of(index)
        if self.view is None or position is None:
            return
        if self.view.kind == "table":
            self.grid.go_to(*self.view.cell_of(position))
        elif self.view.kind in ("heat_map", "image"):
            self.pictures.go_to(position)

    def look_for(self, condition: str, forward: bool) -> None:
        """Go to the next element for which the condition holds."""
        if self.view is None or self._value is None:
            return
        if self.view.kind in ("line", "histogram", "history"):
            self._choose_view(replace(self.view, kind="table"))
        view = self.view
        position = None if self._index is None else view.position_of(self._index)
        start = -1 if position is None else view.number_of(position)

        def found(reply: FoundElement, buffers: tuple[Buffer, ...]) -> None:
            if reply.position < 0:
                self.finder.say(self.tr("nowhere: {}").format(condition))
                return
            index = view.index_of(view.position_at(reply.position))
            where = ", ".join(map(str, index))
            self.finder.say(f"{reply.number:,} of {reply.count:,}: [{where}]")
            self._go_to(index)

        part = view.part(self._value.ref)
        message = FindElement(of=part, condition=condition, start=start, forward=forward)
        self._questions.ask("find", message, found)

    # -- given another value -----------------------------------------------------------------------

    def _may_give(self) -> bool:
        """Whether an element can be given another value here, and why not is not obvious."""
        stop, view, value = self._workspace.stop, self.view, self._value
        if stop is None or view is None or value is None or view.minus is not None:
            return False
        return value.state == "known" and value.dtype != DType.RESOURCE.value

    def _give(self, row: int, column: int, text: str) -> None:
        """An element has another value from here on, on a branch."""
        if self._value is None:
            return
        index, ref = self.grid.index_of(row, column), self._value.ref
        place = element_here(self._workspace, ref, DType(self._value.dtype), index)
        try:
            value = read_now(text, place.kind, f"{place.name}{place.at}")
        except GradstepError as error:
            self._fail(info_of(error))
            return
        if value is None:
            self.finder.say(self.tr("a number is written out here"), True)
        else:
            commands.put_value(self._workspace, place, value)

    # -- taken elsewhere ---------------------------------------------------------------------------

    def _copy(self) -> None:
        if self.view is not None and self._value is not None:
            self.saving.copy(self.view.slice_of(self._value.ref))

    def _copy_selection(self) -> None:
        if self.view is not None and self._value is not None:
            self.saving.copy_cells(self.view.part(self._value.ref), self.grid.selected)

    def _save(self) -> None:
        if self.view is not None and self._value is not None:
            drawn = self.view.kind != "table"
            part = self.view.slice_of(self._value.ref)
            self.saving.ask(part, self._stack.grab if drawn else None)

    def _fail(self, error: ErrorInfo) -> None:
        self.finder.say(f"{error.message}; {error.hint}" if error.hint else error.message, True)
