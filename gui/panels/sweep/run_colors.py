"""The colour of a run: by its place among the others, the least loss first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtGui import QColor

from gradstep.core.sweep.sweep_records import RunRow
from gradstep.gui.look.theme import Theme, mix


class RunColors:
    """From the colour of values, for the least loss, to that of gradients; `problem` for runs that
    failed, `muted` for those that are not over."""

    def __init__(self, rows: Sequence[RunRow]) -> None:
        known = sorted({row.shown_loss for row in rows if math.isfinite(row.shown_loss)})
        self._shares = {loss: n / max(len(known) - 1, 1) for n, loss in enumerate(known)}
        self._losses = {row.number: row.shown_loss for row in rows}

    def of(self, theme: Theme, number: int) -> QColor:
        """The colour of the run of this number."""
        if number not in self._losses:
            return theme.muted
        share = self._shares.get(self._losses[number])
        return theme.problem if share is None else mix(theme.forward, theme.backward, share)
