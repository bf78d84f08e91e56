"""The training panel: steps are made in the engine, and seen here as curves that can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
)

from gradstep.core.debug.breaks.layer_curves import Family
from gradstep.core.debug.breaks.missing_number import is_not_there
from gradstep.core.graph.model import TensorRef
from gradstep.gui import commands
from gradstep.gui.look.plain_text import add_row
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.earlier_trainings import EarlierTraining
from gradstep.gui.model.event_trainings import are_events
from gradstep.gui.model.followed_histograms import KINDS
from gradstep.gui.model.followed_training import FollowedTraining, shown_training
from gradstep.gui.model.lone_curves import LoneCurves
from gradstep.gui.model.training import Training
from gradstep.gui.model.training_curve import Curve
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.training.curve_colors import colors
from gradstep.gui.panels.training.curve_list import CurveList
from gradstep.gui.panels.training.earlier_list import EarlierList
from gradstep.gui.panels.training.expression_dialog import ExpressionDialog
from gradstep.gui.panels.training.flow_map import FlowMap
from gradstep.gui.panels.training.followed_bar import FollowedBar
from gradstep.gui.panels.training.histogram_map import HistogramMap
from gradstep.gui.panels.training.step_card import StepCard
from gradstep.gui.panels.training.training_head import TrainingHead
from gradstep.gui.panels.training.view_bar import ViewBar
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.small_labels import Wrapped

if TYPE_CHECKING:
    from gradstep.gui.panels.training.curve_plot import CurvePlot

# What can be followed of layers, as the menu says it.
LAYERS: dict[Family, str] = {
    "gradient": "Gradient norm of each variable",
    "ratio": "Update-to-weight ratio of each variable",
    "dead": "Share of dead units of each Relu",
    "saturated": "Share of saturated units of each Sigmoid and Tanh",
    "size": "Largest |value| of each variable and activation",
    "rate": "Learning rate of each optimizer",
}
OFFERED = 2000  # steps at most whose values are offered while an expression is typed
LIST, LEAST = 264, 120  # pixels; the width of the list of curves, at most and at least
CARD = 288  # pixels


class TrainingPanel(Panel):
    """A click at a step of a curve brings the debugger to the end of that step; of a training
    elsewhere that is followed it says how to keep such a step."""

    title = "Training"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "training")
        self.training: Training = workspace.training
        self.followed = FollowedBar(workspace)
        self.head = TrainingHead(workspace)
        self.curves = CurveList(lambda: self.theme)
        self.earlier = EarlierList(lambda: self.theme, self.training.earlier)
        self.curves.add_below(self.earlier)
        self.views = ViewBar(workspace)
        self.views.add(self.head.scale)
        self.map = FlowMap(lambda: self.theme)
        self.spread = HistogramMap(lambda: self.theme)
        self.card = StepCard(workspace)
        self.plot: CurvePlot | None = None  # made when there is something to draw
        self.hint = Wrapped(lambda: self.theme, "training.hint", "muted")
        self.hint.setContentsMargins(12, GRID, 12, GRID)
        self._hovered = -1
        self.lone = LoneCurves()
        self.setAcceptDrops(True)
        self.column.addWidget(self.followed)
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
        self.pages.addWidget(self.map)
        self.pages.addWidget(self.spread)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.views)
        right.addWidget(self.pages, 1)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(scroll, 1)
        row.addLayout(right, 2)
        row.addWidget(self._beside())
        return row

    def _beside(self) -> QScrollArea:
        """What is said of the step that was clicked."""
        self.beside = scroll_area(self.card)
        self.beside.setObjectName("training.step.scroll")
        self.beside.setFixedWidth(CARD)
        self.beside.hide()
        return self.beside

    def _connect(self) -> None:
        space, head = self.workspace, self.head
        self.follow(self.refresh, self.training.changed, space.engine_changed)
        self.follow(self.show_points, self.training.grew)
        self.follow(self.refresh, space.followed.changed)
        self.follow(self.show_followed, space.followed.grew)
        self.follow(self.show_place, space.stopped)
        self.follow(self.show_card, space.clicked.changed)
        head.looked.connect(self.show_look)
        self.views.looked.connect(self.show_look)
        self.views.looked.connect(self.show_points)
        self.views.measured.connect(self._measure)
        self.earlier.changed.connect(self.refresh)
        for each in (self.map, self.spread):
            each.clicked.connect(self._go)
            each.hovered.connect(self._hover)
            each.named.connect(lambda row: commands.reveal(space, row.op))
        for bar in (head, self.followed):
            bar.copy.copied.connect(self._copy)
        head.follow.menu().aboutToShow.connect(self._offer)
        self.curves.dropped.connect(self._drop)
        self.curves.found.connect(lambda curve: commands.reveal(space, curve.op))

    # -- what is shown -------------------------------------------------------------------------

    @property
    def source(self) -> Training | FollowedTraining:
        """What is shown: the training of the document, or one elsewhere that is followed."""
        return shown_training(self.workspace)

    @property
    def drawn(self) -> list[Curve]:
        """The curves of what is shown, and those that only event files beside it have."""
        curves = self.source.curves
        return [*curves, *self.lone.beside(curves, self.source.earlier)]

    def show_followed(self) -> None:
        """More is known of the training that is followed."""
        self.followed.say()
        if self.source is not self.training:
            self.show_points()

    def refresh(self) -> None:
        """Show what is followed, and how to begin."""
        space, source = self.workspace, self.source
        self.followed.refresh()
        self.head.setVisible(source is self.training and space.is_open)
        own = len(space.document.graph) > 0 or source is not self.training
        if not own and not len(source.earlier):
            self.show_empty(
                self.tr(
                    "Training appears here: how far it is, and the loss step by step. Open a "
                    "document first."
                )
            )
            return
        self.head.refresh()
        if self.earlier.trainings is not source.earlier:
            self._show_source(source)
        self.curves.show_curves(self.drawn, self._colors())
        self.hint.setText(self._how())
        self.show_points()
        self.show_content()

    def _show_source(self, source: Training | FollowedTraining) -> None:
        """Another training from now on: all of its steps."""
        self.earlier.trainings = source.earlier
        if self.plot is not None:
            self.plot.earlier = source.earlier
            self.plot.fit()
        self.show_card()

    def show_points(self) -> None:
        """Draw what there is by now."""
        self.head.say()
        curves = self.drawn
        loss = next((curve.text for curve in curves), "")
        self.earlier.refresh(loss)
        if self.views.is_spread:
            self._show_histograms()
        elif self.views.is_map:
            self._show_map()
        elif self._are_there(curves):
            if self.plot is None:
                self._make_plot()
            assert self.plot is not None
            self.plot.show_curves(curves)
            self.pages.setCurrentWidget(self.plot)
        else:
            self.hint.setText(self._how())
            self.pages.setCurrentWidget(self.hint)
        self.show_place()

    def _are_there(self, curves: Sequence[Curve]) -> bool:
        """Whether there is a point of any, now or of an earlier training."""
        earlier = self.source.earlier
        return any(len(c.points) or earlier.points_beside(c) for c in curves)

    def _show_map(self) -> None:
        curves = self.source.follows(self.views.measure)
        self.map.show_rows(self.views.measure, curves)
        there = any(len(curve.points) for curve in curves)
        self.hint.setText(self._how_to_map(bool(curves)))
        self.pages.setCurrentWidget(self.map if there else self.hint)

    def _show_histograms(self) -> None:
        followed = self.source.histograms.followed
        self.spread.show_histograms(followed)
        there = any(len(each.points) for each in followed)
        self.hint.setText(self._how_to_map(bool(followed)))
        self.pages.setCurrentWidget(self.spread if there else self.hint)

    def _how_to_map(self, followed: bool) -> str:
        """What lacks before there is a map."""
        if self.source is not self.training:
            return self.tr("Of a training that is followed there is a map of gradient norms.")
        if followed:
            return self.tr("Followed from the next step on. Train, and the map appears here.")
        program, measure = self.workspace.program, self.views.measure
        if measure != "dead" and program is not None and program.gradients:
            return self.tr("Nothing is followed yet: Follow > {}.").format(LAYERS[measure])
        return {
            "dead": self.tr("No run computes a Relu, so there are no units that could be dead."),
        }.get(self.views.measure, self.tr("No run computes the gradient of a variable."))

    def show_place(self) -> None:
        """Where the debugger stands."""
        stop = self.workspace.stop
        elsewhere = self.source is not self.training
        here = -1 if stop is None or self.training.busy or elsewhere else stop.run
        if self.plot is not None:
            self.plot.show_current(here)
        self.map.show_current(here)
        self.spread.show_current(here)
        self._show_numbers(here)

    def _show_numbers(self, here: int) -> None:
        """What the curves are at the pointer, or where the debugger stands, or at the end."""
        if self._hovered >= 0:
            self.curves.show_step(self._hovered, self.tr("step {}"))
        elif 0 <= here <= self.source.last:
            self.curves.show_step(here, self.tr("step {} · debugger here"))
        else:
            self.curves.show_step(self._last, self.tr("step {} · last"))

    @property
    def _last(self) -> int:
        """The last step that is known of what is drawn; -1 for none."""
        return max((curve.points.stop - 1 for curve in self.drawn), default=-1)

    def show_card(self) -> None:
        """What made the step different that was clicked."""
        there = self.workspace.clicked.step >= 0 and self.source is self.training
        if there:
            self.card.refresh()
        self.beside.setVisible(there)

    def show_look(self) -> None:
        """The user looks at them otherwise."""
        if self.plot is not None:
            self.plot.set_look(self.head.log, self.head.smoothing)
            self.plot.set_split(self.views.is_split)

    def _make_plot(self) -> None:
        from gradstep.gui.panels.training.curve_plot import CurvePlot

        self.plot = CurvePlot(lambda: self.theme, self.source.earlier)
        self.plot.set_look(self.head.log, self.head.smoothing)
        self.plot.set_split(self.views.is_split)
        self.plot.clicked.connect(self._go)
        self.plot.clicked_earlier.connect(self._refuse)
        self.plot.hovered.connect(self._hover)
        self.pages.addWidget(self.plot)

    def _colors(self) -> list[QColor]:
        """The colour of each curve's line."""
        return colors(self.theme, self.drawn)

    def _how(self) -> str:
        if self.source is not self.training:
            return self.tr("Curves appear with the training's next step.")
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

    def _drop(self, curve: Curve) -> None:
        """Draw it no longer."""
        if curve.tag:
            self.source.earlier.drop_tag(curve.text)
            self.refresh()
        else:
            self.source.drop(curve)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_events(event) is not None:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_events(event)
        if path is not None:
            event.acceptProposedAction()
            commands.open_events(self.workspace, path)

    def _hover(self, step: int) -> None:
        self._hovered = step
        if self.plot is not None:
            self.plot.show_cursor(step)
        self.map.show_cursor(step)
        self.spread.show_cursor(step)
        self.show_place()

    def _go(self, step: int) -> None:
        """To the end of a step, with all its values."""
        if self.source is not self.training:
            words = self.tr("Step {:,} is in another process; step={} in its watch(…) keeps it")
            self.workspace.say(words.format(step + 1, step + 1))
            return
        if self.training.first <= step <= self.training.last:
            commands.go_to_trained_step(self.workspace, step)
        elif any(each.tags for each in self.training.earlier):
            words = self.tr("Step {:,} is known from event files alone: no training here was there")
            self.workspace.say(words.format(step + 1))
        else:
            words = self.tr(
                "Step {:,} is of an earlier training: the runs that are shown have none"
            )
            self.workspace.say(words.format(step + 1))

    def _refuse(self, step: int, training: EarlierTraining) -> None:
        """An earlier training's curve was clicked: the step of that number is another one here."""
        words = self.tr("Step {:,} of “{}” is not among the runs that are shown")
        self.workspace.say(words.format(step + 1, training.name))

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
            row.triggered.connect(lambda *_, ref=ref: self.training.follow_value(ref))
        menu.addSeparator()
        for family, words in LAYERS.items():
            self._offer_layers(menu, family, self.tr(words))
        menu.addSeparator()
        self._offer_histograms(menu, chosen)
        menu.addSeparator()
        menu.addAction(self.tr("An expression…"), self._ask_expression)
        menu.addAction(self.tr("Curves of event files…"), lambda: space.ask_window("events"))
        always = menu.addAction(self.tr("All of it in every step, however long that takes"))
        always.setCheckable(True)
        always.setChecked(self.training.always)
        always.toggled.connect(self._note_always)

    def _offer_layers(self, menu: QMenu, family: Family, words: str) -> None:
        """One kind of what can be followed of layers: ticked where it is."""
        training, space = self.training, self.workspace
        found = training.layer_curves(family)
        row = menu.addAction(words)
        row.setCheckable(True)
        row.setChecked(bool(training.follows(family)))
        row.setEnabled(bool(found) or row.isChecked())
        row.triggered.connect(
            lambda on: commands.follow_layers(space, family) if on else training.drop_layers(family)
        )

    def _offer_histograms(self, menu: QMenu, chosen: Sequence[str]) -> None:
        """Of variables, of gradients, of what is selected."""
        followed = self.training.histograms
        for kind, words in KINDS.items():
            row = menu.addAction(self.tr(words))
            row.setCheckable(True)
            row.setChecked(bool(followed.of_kind(kind)))
            row.triggered.connect(lambda on, kind=kind: self._follow_histograms(kind, on))
        if len(chosen) == 1:
            row = add_row(menu, self.tr("Histogram of {}").format(chosen[0]))
            row.triggered.connect(lambda: self._follow_histogram(TensorRef(chosen[0])))

    def _follow_histograms(self, kind: str, on: bool) -> None:
        if not on:
            self.training.drop_histograms(kind)
            return
        self.training.follow_histograms(kind)
        self.views.show_histograms()

    def _follow_histogram(self, ref: TensorRef) -> None:
        self.training.follow_histogram(ref)
        self.views.show_histograms()

    def _note_always(self, always: bool) -> None:
        self.training.always = always

    def _measure(self) -> None:
        """The user wants a map: follow what it is of."""
        if self.source is not self.training:
            self.show_points()
            return
        if self.views.is_spread:
            if not self.training.histograms.followed:
                self.training.follow_histograms("weights")
        elif not self.training.follows(self.views.measure):
            self.training.follow_layers(self.views.measure)
        self.show_points()

    def _ask_expression(self) -> None:
        ExpressionDialog(self.workspace, self._expressions(), self).open()

    def _expressions(self) -> list[str]:
        """Those at hand: of layers, and the values that steps give."""
        training, program = self.training, self.workspace.program
        found = [each.text for family in LAYERS for each in training.layer_curves(family)]
        steps = [] if program is None else program.steps[:OFFERED]
        return found + [f'x["{output}"]' for step in steps for output in step.outputs]

    def _copy(self, what: str) -> None:
        clipboard = QGuiApplication.clipboard()
        if self.plot is None:
            self.workspace.say(self.tr("there is no curve to copy yet"))
        elif what == "csv":
            clipboard.setText(curves_as_csv(self.drawn))
            self.workspace.say(self.tr("the curves were copied as CSV"))
        else:
            clipboard.setImage(self.plot.picture())
            self.workspace.say(self.tr("the curves were copied as a picture"))

    def restyle(self) -> None:
        super().restyle()
        self.curves.show_curves(self.drawn, self._colors())
        self.earlier.refresh("", anew=True)
        self.map.update()
        self.spread.update()
        if self.plot is not None:
            self.plot.restyle()
        self.show_place()
        self.show_card()


def dropped_events(event: QDropEvent) -> Path | None:
    """The event file, or folder of them, that is dropped; None for what the window takes."""
    urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
    path = Path(urls[0].toLocalFile()) if len(urls) == 1 else None
    return path if path is not None and are_events(path) else None


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
    points, found = curve.points, [""] * (last - first)
    unknown = is_not_there(points.numbers)
    rows = zip(points.steps.tolist(), points.numbers.tolist(), unknown.tolist(), strict=True)
    for step, number, missing in rows:
        found[step - first] = "" if missing else repr(number)
    return found


def _quoted(title: str) -> str:
    return '"' + title.replace('"', '""') + '"' if "," in title or '"' in title else title
