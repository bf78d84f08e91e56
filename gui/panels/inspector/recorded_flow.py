"""What another framework had of a node, in the iteration that is looked at: value and gradient."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.debug.history.recorded_run import RecordedIterations
from gradstep.core.graph.loop import loops_around
from gradstep.core.graph.model import Constant, Operation
from gradstep.gui import commands
from gradstep.gui.model.value_cache import HEAD
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.node_flow import Flow


class RecordedFlow(QWidget):
    """Below what it is here; hidden where nothing was recorded."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.recorded")
        self._workspace = workspace
        self.value = Flow(workspace, "inspector.recorded.value")
        self.gradient = Flow(workspace, "inspector.recorded.gradient")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.value)
        column.addWidget(self.gradient)

    def show_node(self, op: Operation) -> None:
        """Of output 0: outside of loops what there was; in one, what there was in the iteration
        whose values are shown."""
        run, ref = self._workspace.document.recorded, f"{op.name}:0"
        value = None if run is None else run.values.get(ref)
        gradient = None if run is None else run.gradients.get(ref)
        series = None if run is None else run.iterations.get(ref)
        which = ""
        if series is not None:
            time = self._time(op, series)
            value, gradient = _at(series.values, time), _at(series.gradients, time)
            which = _words(series, time)
        _show(self.value, self.tr("Recorded"), value, self._source(which))
        again = which if value is not None else self._source(which)
        _show(self.gradient, self.tr("Recorded gradient"), gradient, again)
        self.setVisible(value is not None or gradient is not None)

    def _source(self, iteration: str) -> str:
        run = self._workspace.document.recorded
        return " · ".join(filter(None, (iteration, "" if run is None else run.source)))

    def _time(self, op: Operation, series: RecordedIterations) -> int | None:
        """Which time it is of: that of the iterations whose values are shown; the last where there
        is none yet, as that is what a loop shows that has run."""
        count = len(series.places.array)
        if not count:
            return None
        shown = commands.shown_iterations(self._workspace)
        around = [shown.get(loop) for loop in loops_around(self._workspace.document.graph, op.name)]
        places = [each.iteration for each in around if each is not None and each.iteration >= 0]
        return series.time(places) if len(places) == len(around) else count - 1


def _at(held: Constant | None, time: int | None) -> Constant | None:
    return None if held is None or time is None else Constant(held.array[time])


def _words(series: RecordedIterations, time: int | None) -> str:
    if time is None:
        return ""
    numbers = ", ".join(str(number + 1) for number in series.places.array[time].tolist())
    return f"iteration {numbers}"


def _show(flow: Flow, title: str, held: Constant | None, remark: str) -> None:
    flow.setVisible(held is not None)
    if held is None:
        return
    array = held.array
    head = np.array(array.flat[:HEAD], array.dtype)
    flow.header.set_texts(title, remark)
    flow.tiles.show_head(head, array.shape)
    flow.tiles.setAccessibleName(title)
    flow.note.hide()
