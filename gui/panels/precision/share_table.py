"""The shares of an error as a table: how much, which operation, and whether it stays in float32."""

from __future__ import annotations

from gradstep.core.protocol.messages import PrecisionRow
from gradstep.gui.look.theme import Tone
from gradstep.gui.panels.widgets.table_cells import Cell, RowModel

WIDTHS = (72, 240, 200, 80, 120)  # pixels, of the columns
_SHARE, _NAME, _TYPE, _PHASE = range(4)
_SMALL = 0.0005  # a share that is shown as 0.0 %
_TONES: dict[str, Tone] = {"forward": "forward", "backward": "backward", "update": "update"}


class ShareTable(RowModel[PrecisionRow]):
    """A row for each operation, or for several that follow each other; the largest first."""

    headers = ("share", "operation", "type", "phase", "")

    def cell(self, row: int, column: int) -> Cell:
        one = self.rows[row]
        if column == _SHARE:
            tone: Tone = "text" if abs(one.share) >= _SMALL else "faint"
            return Cell(f"{one.share:.1%}", tone, code=True, right=True, tip=f"{one.share:.6g}")
        if column == _NAME:
            more = len(one.ops) - 1
            behind = f" and {more} behind it" if more else ""
            return Cell(f"{one.ops[0]}{behind}", code=True, name=True, tip=", ".join(one.ops))
        if column == _TYPE:
            return Cell(one.type, "muted", code=True)
        if column == _PHASE:
            return Cell(one.phase, _TONES[one.phase])
        return Cell("stays in float32", "override") if one.kept else Cell()
