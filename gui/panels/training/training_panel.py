"""The training panel: steps are made in the engine, and seen here as curves that can be clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QInputDialog, QScrollArea, QStackedWidget

from gradstep.core.graph.model import TensorRef
from gradstep.gui import commands
from gradstep.gui.look.plain_text import add_row
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.training import Curve, Training
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.training.curve_colors import colors
from gradstep.gui.panels.training.curve_list import CurveList
from gradstep.gui.panels.training.training_head import TrainingHead
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Wrapped

if TYPE_CHECKING:
    from gradstep.gui.panels.training.curve_plot import CurvePlot

LIST, LEAST = 264, 160  # pixels; the width of the list of curves, at most and at least


class TrainingPanel(Panel):
    """A click at a step of a curve brings the debugger to the end of that step."""

    title = "Training"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "training")
        self.training: Training = workspace.training
        self.head = TrainingHead(workspace)
        self.curves = CurveList(lambda: self.theme)
        self.plot: CurvePlot | None = None  # made when there is something to draw
        self.hint = Wrapped(lambda: self.theme, "training.hint", "muted")
        self.hint.setContentsMargins(12, GRID, 12, GRID)
        self._hovered = -1
        self.column.addWidget(self.head)
        self.column.addLayout(self._body(), 1)
        self._connect()
        self.refresh()

    def _body(self) -> QHBoxLayout:
        scroll = QScrollArea()
        scroll.setObjectName("training.scroll")
        scroll.setMinimumWidth(LEAST)
        scroll.setMaximumWidth(LIST)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self.curves)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.hint)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(scroll, 1)
        row.addWidget(self.pages, 2)
        return row

    def _connect(self) -> None:
        space, head = self.workspace, self.head
        self.follow(self.refresh, self.training.changed, space.engine_changed)
        self.follow(self.show_points, self.training.grew)
        self.follow(self.show_place, space.stopped)
        head.looked.connect(self.show_look)
        head.copied.connect(self._copy)
        head.follow.menu().aboutToShow.connect(self._offer)
        self.curves.dropped.connect(self.training.drop)
        self.curves.found.connect(lambda curve: commands.reveal(space, curve.op))

    # -- what is shown -------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show what is followed, and how to begin."""
        space, training = self.workspace, self.training
        if not len(space.document.graph):
            self.show_empty(
                self.tr(
                    "Training appears here: how far it is, and the loss step by step. Open a "
                    "document first."
                )
            )
            return
        self.head.refresh()
        self.curves.show_curves(training.curves, self._colors())
        self.hint.setText(self._how())
        self.show_points()
        self.show_content()

    def show_points(self) -> None:
        """Draw what there is by now."""
        self.head.say()
        if any(len(points) for c in self.training.curves for points in (c.points, c.before)):
            if self.plot is None:
                self._make_plot()
            assert self.plot is not None
            self.plot.show_curves(self.training.curves)
            self.pages.setCurrentIndex(1)
        else:
            self.pages.setCurrentIndex(0)
        self.show_place()

    def show_place(self) -> None:
        """Where the debugger stands."""
        stop = self.workspace.stop
        here = -1 if stop is None or self.training.busy else stop.run
        if self.plot is not None:
            self.plot.show_current(here)
        self._show_numbers(here)

    def _show_numbers(self, here: int) -> None:
        """What the curves are at the pointer, or where the debugger stands, or at the end."""
        if self._hovered >= 0:
            self.curves.show_step(self._hovered, self.tr("step {}"))
        elif 0 <= here <= self.training.last:
            self.curves.show_step(here, self.tr("step {} · debugger here"))
        else:
            self.curves.show_step(self.training.last, self.tr("step {} · last"))

    def show_look(self) -> None:
        """The user looks at them otherwise."""
        if self.plot is not None:
            self.plot.set_look(self.head.log, self.head.smoothing)

    def _make_plot(self) -> None:
        from gradstep.gui.panels.training.curve_plot import CurvePlot

        self.plot = CurvePlot(lambda: self.theme)
        self.plot.set_look(self.head.log, self.head.smoothing)
        self.plot.clicked.connect(self._go)
        self.plot.hovered.connect(self._hover)
        self.pages.addWidget(self.plot)

    def _colors(self) -> list[QColor]:
        """The colour of each curve's line."""
        return colors(self.theme, self.training.curves)

    def _how(self) -> str:
        if not self.training.curves:
            return self.tr(
                "Nothing is followed. Follow adds a curve: of what is selected, of the norms of "
                "gradients, or of an expression."
            )
        return self.tr(
            "Train makes the steps in the engine, and draws the curves here. F6 pauses at the end "
            "of a step; a click on a curve brings the debugger to that step, with every value in "
            "it. Drag and wheel move and zoom; a double click shows all."
        )

    # -- the user ------------------------------------------------------------------------------

    def _hover(self, step: int) -> None:
        self._hovered = step
        if self.plot is not None:
            self.plot.show_cursor(step)
        self.show_place()

    def _go(self, step: int) -> None:
        """To the end of a step, with all its values."""
        commands.go_to_trained_step(self.workspace, step)

    def _offer(self) -> None:
        """What can be followed now."""
        menu, space = self.head.follow.menu(), self.workspace
        menu.clear()
        chosen = [name for name in space.selection if name in space.document.graph]
        if chosen:
            words = self.tr("Selected: {}").format(chosen[0])
            more = self.tr("{} selected nodes").format(len(chosen))
            row = add_row(menu, words if len(chosen) == 1 else more)
            row.triggered.connect(lambda: commands.follow_selected(space))
        for ref in space.document.fetches:
            row = add_row(menu, ref.short)
            row.triggered.connect(lambda *_, ref=ref: self._follow_value(ref))
        menu.addSeparator()
        norms = menu.addAction(
            self.tr("Gradient norm of each variable"), lambda: commands.follow_gradients(space)
        )
        norms.setEnabled(bool(self.training.gradient_curves()))
        menu.addAction(self.tr("An expression…"), self._ask_expression)

    def _follow_value(self, ref: TensorRef) -> None:
        self.training.follow(self.training.value_curve(ref))

    def _ask_expression(self) -> None:
        text, given = QInputDialog.getText(
            self,
            self.tr("Follow an expression"),
            self.tr('One number a step, for example max(abs(x["w:0"])) or norm(grad["w:0"])'),
        )
        if given and text.strip():
            commands.follow_expression(self.workspace, text.strip())

    def _copy(self, what: str) -> None:
        clipboard = QGuiApplication.clipboard()
        if what == "csv":
            clipboard.setText(curves_as_csv(self.training.curves))
            self.workspace.say(self.tr("the curves were copied as CSV"))
        elif self.plot is not None:
            clipboard.setImage(self.plot.picture())
            self.workspace.say(self.tr("the curves were copied as a picture"))

    def restyle(self) -> None:
        super().restyle()
        self.curves.show_curves(self.training.curves, self._colors())
        if self.plot is not None:
            self.plot.restyle()
        self.show_place()


def curves_as_csv(curves: list[Curve]) -> str:
    """A line for each step, counted from 1, with nothing where a curve is not known."""
    there = [curve for curve in curves if len(curve.points)]
    lines = [",".join(["step", *(_quoted(curve.title) for curve in there)])]
    first = min((curve.points.first for curve in there), default=0)
    last = max((curve.points.stop for curve in there), default=0)
    columns = [_texts(curve, first, last) for curve in there]
    steps = map(str, range(first + 1, last + 1))
    lines += [",".join(row) for row in zip(steps, *columns, strict=True)]
    return "\n".join(lines) + "\n"


def _texts(curve: Curve, first: int, last: int) -> list[str]:
    points = curve.points
    known = [repr(number) for number in points.numbers.tolist()]
    return ["" for _ in range(points.first - first)] + known + [""] * (last - points.stop)


def _quoted(title: str) -> str:
    return '"' + title.replace('"', '""') + '"' if "," in title or '"' in title else title
