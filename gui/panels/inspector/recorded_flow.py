"""What another framework had of a node, in the iteration that is looked at: value and gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.debug.history.recorded_run import RecordedIterations
from gradstep.core.graph.loop import loops_around
from gradstep.core.graph.model import Constant, Operation
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
        which = ("", "")
        if series is not None:
            forward, back = self._times(op, series)
            value, gradient = _at(series.values, forward), _at(series.gradients, back)
            which = _words(series, forward), _words(series, back)
        _show(self.value, self.tr("Recorded"), value, self._source(which[0]))
        again = which[1] if value is not None else self._source(which[1])
        _show(self.gradient, self.tr("Recorded gradient"), gradient, again)
        self.setVisible(value is not None or gradient is not None)

    def _source(self, iteration: str) -> str:
        run = self._workspace.document.recorded
        return " · ".join(filter(None, (iteration, "" if run is None else run.source)))

    def _times(self, op: Operation, series: RecordedIterations) -> tuple[int | None, int | None]:
        """Which time the value, and which the gradient, is of: that of the loops that the debugger
        stands in; where it does not, of the last iteration, and on the way back of the first, which
        it comes to last."""
        around = loops_around(self._workspace.document.graph, op.name)
        count = len(series.places.array)
        if not count:
            return None, None
        there = series.time(self._forward(around)) if self._forward(around) else count - 1
        back = self._back(around, series) or self._forward(around)
        return there, series.time(back) if back else 0

    def _forward(self, around: Sequence[str]) -> list[int]:
        """The iterations of these loops that it stands in; none where it does not."""
        stop = self._workspace.stop
        inside = [] if stop is None else stop.inside[: len(around)]
        there = [place.loop for place in inside] == [*around]
        return [place.iteration for place in inside] if there else []

    def _back(self, around: Sequence[str], series: RecordedIterations) -> list[int]:
        """The iterations that it goes back through."""
        stop, steps = self._workspace.stop, self._workspace.debugger.index.steps
        inside = [] if stop is None else stop.inside[: len(around)]
        made = [steps.get(place.loop) for place in inside]
        origins = [step.origin for step in made if step is not None and step.phase == "backward"]
        if origins != [*around]:
            return []
        rows, found = series.places.array, list[int]()
        for depth, place in enumerate(inside):
            found.append(int(rows[:, depth].max(initial=0)) - place.iteration)
            rows = rows[rows[:, depth] == found[-1]]
        return found


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
