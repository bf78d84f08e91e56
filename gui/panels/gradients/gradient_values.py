"""The gradients of what is trained, as of the current step: a row a tensor, before any check."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.document.requests import whole_request
from gradstep.core.graph.model import TensorRef
from gradstep.gui.look.theme import Tone
from gradstep.gui.model import number_text
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

NAME, VALUE, NORM = range(3)
_ROOM = 24  # characters of a value


class GradientValues(CellModel):
    """Those that exist; what is None has a section of its own."""

    headers = ("dL/d", "value", "norm")

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.refs: Sequence[TensorRef] = ()

    def refresh(self) -> None:
        """Another document, program or step may be looked at."""
        refs = tuple(self._there())
        if refs == self.refs:
            self.changed()
            return
        self.beginResetModel()
        self.refs = refs
        self.endResetModel()

    def _there(self) -> list[TensorRef]:
        program = self._workspace.program
        if program is None:
            return []
        there = program.gradients.keys() | program.waiting.keys()
        wrt = whole_request(self._workspace.document).wrt
        return [ref for ref in wrt if str(ref) in there]

    def count(self) -> int:
        return len(self.refs)

    def cell(self, row: int, column: int) -> Cell:
        ref = self.refs[row]
        if column == NAME:
            return Cell(ref.short, code=True, name=True)
        found = self._workspace.gradient(str(ref))
        if found is None or found.state != "known":
            word = "waiting" if found is None else found.state
            return Cell(word if column == VALUE else "", "faint", code=True)
        return _value(found) if column == VALUE else _norm(found)


def _value(found: TensorValue) -> Cell:
    tone: Tone = "problem" if number_text.is_wrong(found) else "backward"
    return Cell(number_text.brief(found, _ROOM), tone, code=True)


def _norm(found: TensorValue) -> Cell:
    norm = None if found.stats is None else found.stats.norm
    text = "" if norm is None else number_text.short(norm)
    tone: Tone = "problem" if number_text.is_wrong(found) else "text"
    return Cell(text, tone, code=True, tip="the root of all squares")


def gradient_values(workspace: Workspace, model: GradientValues) -> FlatTable:
    """The table of them; a click selects what a gradient belongs to."""
    widths = (112, 120, 60)
    table = FlatTable(lambda: workspace.theme, model, "gradients.values", widths, VALUE)
    table.setAccessibleName("Gradients at this step")
    table.chosen.connect(lambda row: workspace.select([model.refs[row].op]))
    return table
