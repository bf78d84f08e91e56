"""The rows of an answer: run, step, iteration, node, tensor, element and number."""

from __future__ import annotations

from gradstep.core.protocol.messages import MomentRow
from gradstep.gui.panels.widgets.table_cells import Cell, Fill, RowModel

_WRONG = ("NaN", "Inf", "-Inf")


class AnswerModel(RowModel[MomentRow]):
    """A row for each step at which it holds, in the order of time; runs, steps and iterations count
    from 1, as they do all over the window."""

    headers = ("run", "step", "iteration", "node", "tensor", "element", "value")

    def __init__(self) -> None:
        super().__init__()
        self.here = ""  # where the debugger stands, as a position

    def show_here(self, position: str) -> None:
        """The debugger stands elsewhere."""
        self.here = position
        self.changed()

    def cell(self, row: int, column: int) -> Cell:
        found = self.rows[row]
        here = found.position == self.here
        fill: Fill = "current_row" if here else ""
        iteration = "" if found.iteration is None else str(found.iteration + 1)
        if column < 3:
            text = (str(found.run + 1), step_words(found), iteration)[column]
            return Cell(text, "muted", code=True, fill=fill, tip=found.inside, strong=here)
        if column in (3, 4):
            return Cell((found.node, found.tensor)[column - 3], name=True, fill=fill)
        if column == 5:
            return Cell("" if found.element is None else str(found.element), code=True, fill=fill)
        wrong = any(word in found.said for word in _WRONG)
        return Cell(found.said, "problem" if wrong else "text", code=True, fill=fill)


def step_words(row: MomentRow) -> str:
    """The number of the step that was done, in loops behind that of the loop; "start" where a run
    or an iteration begins."""
    pairs = [place.split(":") for place in row.position.split("/")]
    around = [str(int(step) + 1) for _, step in pairs[:-1]]
    last = pairs[-1][1]
    return " › ".join([*around, last if last != "0" else "start"])
