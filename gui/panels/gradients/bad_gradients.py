"""The gradients that are None, NaN, infinite or zero: which, why, and where that began."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import Explanation
from gradstep.gui import commands
from gradstep.gui.look.theme import GRID, Theme, mono
from gradstep.gui.model.explanations import find_differentiated
from gradstep.gui.model.gradient_states import Row
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader, Text, Wrapped

MOST = 12  # lines; a broken network can have hundreds
_SHOWN = {"none": "None", "nan": "NaN", "inf": "Inf", "zero": "0"}


class BadGradients(QWidget):
    """One line a gradient with a link "Why?", which asks the engine and selects the path."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._shown: list[Row] | None = None
        self._lines: list[_Line] = []
        self.setObjectName("gradients.bad")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 0, 12, GRID)
        self._column.setSpacing(GRID // 2)
        workspace.whys.changed.connect(self._say)

    def refresh(self) -> None:
        """Show those that there are now."""
        self._shown = self._workspace.gradient_states.bad
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._lines = []
        self.setVisible(bool(self._shown))
        before = ""
        for ref, state in self._shown[:MOST]:
            if state != before:
                self._column.addWidget(self._header(state))
                before = state
            self._lines.append(_Line(self._workspace, ref, state))
            self._column.addWidget(self._lines[-1])
        if len(self._shown) > MOST:
            rest = Text(self._theme, "muted")
            rest.set_text(self.tr("and {} more").format(len(self._shown) - MOST))
            self._column.addWidget(rest)

    def refresh_if_changed(self) -> None:
        """They may be others: more values are known."""
        if self._workspace.gradient_states.bad != self._shown:
            self.refresh()

    def _say(self) -> None:
        for line in self._lines:
            line.say()

    def _header(self, state: str) -> SectionHeader:
        titles = {
            "none": (self.tr("No gradient"), self.tr("None is not zero")),
            "nan": (self.tr("NaN"), self.tr("not a number")),
            "inf": (self.tr("Infinite"), ""),
            "zero": (self.tr("Zero"), self.tr("in every element")),
        }
        header = SectionHeader(self._theme, titles[state][0])
        header.set_texts(*titles[state])
        return header

    def _theme(self) -> Theme:
        return self._workspace.theme


class _Line(QWidget):
    """One gradient, with what is known of the reason, and links to more."""

    def __init__(self, workspace: Workspace, ref: TensorRef, state: str) -> None:
        super().__init__()
        self._workspace, self._ref, self._of = workspace, ref, find_differentiated(workspace, ref)
        self._is_asked = False
        theme = lambda: workspace.theme  # noqa: E731
        self._name = Text(theme, "text", mono())
        self._name.set_text(f"dL/d{ref.short} = {_SHOWN[state]}")
        self._reason = Wrapped(theme, f"gradients.reason.{ref.short}", "muted")
        self._reason.setText("; ".join(_ends(workspace, ref)) if state == "none" else "")
        self._reason.setVisible(bool(self._reason.text()))
        why = Link(theme, self.tr("Why?"), f"gradients.why.{ref.short}")
        why.clicked.connect(self._ask)
        self._go = Link(theme, self.tr("Take me to the first one"), f"gradients.first.{ref.short}")
        self._go.clicked.connect(self._go_there)
        self._go.hide()
        self._lay_out(why)

    def say(self) -> None:
        """Show the answer, if it was asked for and is here."""
        found = self._found()
        if found is None or not self._is_asked:
            return
        self._is_asked = False
        self._reason.setText(found.text)
        self._reason.show()
        self._go.setVisible(commands.is_elsewhere(self._workspace, found))

    def _found(self) -> Explanation | None:
        of = self._of
        return None if of is None else self._workspace.whys.known(of.short, self._ref.short)

    def _ask(self) -> None:
        self._is_asked = True
        commands.ask_why(self._workspace, self._ref)
        self.say()

    def _go_there(self) -> None:
        found = self._found()
        if found is not None:
            commands.go_to_first(self._workspace, found)

    def _lay_out(self, why: Link) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._name, 1)
        row.addWidget(why)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addLayout(row)
        column.addWidget(self._reason)
        column.addWidget(self._go)


def _ends(workspace: Workspace, ref: TensorRef) -> Iterator[str]:
    """Where gradients end on the way back to `ref`: the first two places."""
    program, graph = workspace.program, workspace.document.graph
    below = graph.takers(ref.op) if ref.op in graph else ()
    wires = {(edge.op, edge.index) for name in below for edge in graph.consumers[name]}
    found = program.blocked if program is not None else []  # of the document before an edit
    ends = [end for end in found if (end.op, end.index) in wires]
    yield from dict.fromkeys(f"at {end.op}: {end.why}" for end in ends[:2])
