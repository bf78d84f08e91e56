"""What flows through a node now: its value, and the gradient that arrives at it, as tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.document.requests import every_request
from gradstep.core.graph.foreign_origin import why_frozen
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.protocol.messages import StepInfo
from gradstep.gui import commands
from gradstep.gui.actions import action_record as when
from gradstep.gui.actions.dialog_table import VALUE_HERE, open_dialog
from gradstep.gui.canvas.scene.node_values import gradient_output
from gradstep.gui.look.theme import GRID
from gradstep.gui.model import number_text, variable_change
from gradstep.gui.model.last_step import last_step
from gradstep.gui.model.live_output import live_name, live_output, live_value
from gradstep.gui.model.loss_choice import losses_of, show_loss
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.inspected_node import marked_indexes
from gradstep.gui.panels.inspector.substituted_notation import formula, is_known, with_numbers
from gradstep.gui.panels.widgets.heat_tiles import HeatTiles
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader, Wrapped

_ROOM = 64  # characters of what a few elements were, or are


class Flow(QWidget):
    """A header, tiles, and a line in mathematical notation."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        theme = lambda: workspace.theme  # noqa: E731
        self.header = SectionHeader(theme, "")
        self.tiles = HeatTiles(theme, f"{name}.tiles")
        self.note = Wrapped(theme, f"{name}.note", "muted", code=True)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, GRID, 0, 0)
        self.column.setSpacing(GRID // 2)
        for part in (self.header, self.tiles, self.note):
            self.column.addWidget(part)

    def show_tensor(
        self,
        title: str,
        remark: str,
        value: TensorValue | None,
        note: str,
        marked: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        """Tiles for a known tensor; a word for one that is not."""
        known = value is not None and value.state == "known"
        self.header.set_texts(title, remark)
        self.tiles.setVisible(known)
        if value is not None and known:
            changed = variable_change.of(value)  # whose digits stand below it
            texts = () if changed is None else changed.after
            self.tiles.show_head(value.head, value.shape, marked, texts)
            note = "  ".join(filter(None, (note, *number_text.wrong(value.stats))))
        self.tiles.setAccessibleName(title)
        self.note.setText(note if known or value is None else _absent(value, note))
        self.note.setVisible(bool(self.note.text()))
        self.show()


class ValueFlow(Flow):
    """The node's own result."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "inspector.value_flow")
        self._workspace = workspace
        self.set_here = Link(
            lambda: workspace.theme, self.tr("Set it here…"), "inspector.value_flow.set"
        )
        self.set_here.setToolTip(self.tr("Another value for what runs from here on"))
        self.set_here.clicked.connect(lambda: open_dialog(workspace, VALUE_HERE))
        self.column.addWidget(self.set_here)

    def show_node(self, op: Operation) -> None:
        """Show the output that the canvas has, as of the current step; hidden without a program."""
        typed = TensorRef(op.name) in self._workspace.inference.types
        if self._workspace.program is None or not typed:
            self.hide()
            return
        value = live_value(self._workspace, op)
        step = self._workspace.debugger.index.steps.get(op.name)
        text = formula(step, self._workspace)
        known = value is not None and value.state == "known"
        shape = f"{value.dtype}[{', '.join(map(str, value.shape))}]" if value and known else ""
        marked = marked_indexes(self._workspace, op.name)
        self.set_here.setVisible(when.one_value_here(self._workspace))
        which = commands.iteration_words(self._workspace, op.name) if known else ""
        output = live_name(self._workspace, op) if known else ""
        remark = " · ".join(filter(None, (output, shape, which)))
        self.show_tensor(self.tr("Value"), remark, value, text, marked)


class ChangeFlow(Flow):
    """What the last update of this run changed in a variable."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "inspector.change_flow")
        self._workspace = workspace

    def show_change(self, value: TensorValue | None) -> None:
        """Differences as tiles, and of a few elements what they were and are; hidden for whatever
        no step of this run has written."""
        changed = variable_change.of(value)
        if value is None or value.update is None or changed is None:
            self.hide()
            return
        last, step = last_step(self._workspace), value.update.step
        now = last is not None and last.first <= step < last.stop
        when = self.tr("by the last step") if now else self.tr("by step {}").format(step + 1)
        self.header.set_texts(self.tr("Change"), when)
        self.tiles.setVisible(bool(changed.delta))
        if changed.delta and value.update.before is not None:
            delta = value.head.astype(np.float64) - value.update.before.astype(np.float64)
            self.tiles.show_head(delta, value.shape, texts=changed.delta)
        self.tiles.setAccessibleName(self.tr("Change"))
        before, after = (
            variable_change.inline(t, value, _ROOM) for t in (changed.before, changed.after)
        )
        arrow = f"{before} → {after}" if before and after else ""
        self.note.setText("\n".join(filter(None, (arrow, changed.size))))
        self.note.show()
        self.show()


class GradientFlow(Flow):
    """The gradient that arrives at the node, and from which nodes."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "inspector.gradient_flow")
        self._workspace = workspace
        self.other = Link(lambda: workspace.theme, "", "inspector.gradient_flow.other")
        self.other.setAccessibleName(self.tr("By another loss"))
        self.other.clicked.connect(self._show_other)
        self._others: Sequence[str] = ()
        self.column.addWidget(self.other)

    def show_node(self, op: Operation) -> None:
        """Show dL/d(op), of the output that the canvas shows it of; hidden where nobody asked for
        gradients."""
        program = self._workspace.program
        if program is None or not every_request(self._workspace.document):
            self.hide()
            return
        output = gradient_output(self._workspace, op)
        ref, name = str(output), output.short.rpartition("/")[2]
        losses = losses_of(program, ref)
        arriving = self.tr("dL/d{} arriving").format(name)
        if losses:
            arriving = self.tr("Gradient of {} by {} arriving").format(losses[0], name)
        self._offer(losses[1:])
        sources = self._sources(op.name)
        remark = self.tr("from {}").format(sources) if sources else ""
        if ref in program.rows:
            remark = f"IndexedSlices {remark}"
        value = self._workspace.gradient(ref)
        if value is not None and value.state == "none":
            value = replace(value, why=value.why or why_frozen(op))
        if value is not None and value.state == "known":
            which = commands.iteration_words(self._workspace, op.name)
            remark = " · ".join(filter(None, (remark, which)))
        made = maker_of_gradient(self._workspace, ref)
        note = "" if made is None else with_numbers(made, self._workspace)
        self.show_tensor(arriving, remark, value, note)

    def _offer(self, losses: Sequence[str]) -> None:
        """Other losses whose gradient could be shown instead."""
        self._others = losses
        self.other.setVisible(bool(losses))
        if losses:
            text = self.tr("Show that of {}").format(losses[-1])
            self.other.setText(text)
            self.other.setAccessibleName(text)
            self.other.updateGeometry()

    def _show_other(self) -> None:
        show_loss(self._workspace.debugger, self._others[-1])

    def _sources(self, name: str) -> str:
        """`a (Mul), d (AddV2)`: the nodes over whose wires a gradient comes."""
        graph, flowing = self._workspace.shown, self._workspace.carried
        ends = flowing.among(graph.consumers.get(name, ()))
        return ", ".join(dict.fromkeys(f"{edge.op} ({graph[edge.op].type})" for edge in ends))


def is_flow_known(workspace: Workspace, op: Operation) -> bool:
    """Whether what flows through a node is here, in numbers and in words; asks for what is not. Of
    what was just edited there is nothing to wait for: the engine has not heard of it."""
    debugger, ref = workspace.debugger, str(gradient_output(workspace, op))
    if workspace.program is None or workspace.stop is None or debugger.is_edited:
        return True
    steps = debugger.index.steps.get(op.name), maker_of_gradient(workspace, ref)
    told = [is_known(step, workspace) for step in steps if step is not None]
    shown = str(live_output(workspace, op))
    return all(told) and None not in (workspace.value(shown), workspace.gradient(ref))


def maker_of_gradient(workspace: Workspace, ref: str) -> StepInfo | None:
    """The step that makes the gradient of `ref`."""
    holders = {} if workspace.program is None else workspace.program.gradients
    return workspace.debugger.index.maker(holders.get(ref, ""))


def _absent(value: TensorValue, note: str) -> str:
    if value.state == "none":
        return f"None: {value.why or 'no gradient reaches this node'}"
    if value.absence or value.why:
        return value.absence or value.why
    return f"waiting: {note}" if note else "waiting: not computed at this step"
