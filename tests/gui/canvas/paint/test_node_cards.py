"""The rows of a node: as large as there is room for, and within its card."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.gui.canvas.paint.node_cards import row_of
from gradstep.gui.canvas.scene.level_of_detail import LARGEST_TEXT
from gradstep.gui.canvas.scene.scene_arrays import PADDING, ROW, TITLE


@pytest.mark.parametrize("count", [1, 2])
def test_rows_keep_away_from_the_edge_at_every_zoom(count: int) -> None:
    height = TITLE + PADDING + ROW * count
    for size in np.linspace(1.0, LARGEST_TEXT, 50).tolist():
        rows = [row_of(number, count, size) for number in range(count)]
        assert rows[0].top >= TITLE
        assert rows[-1].top + rows[-1].height <= height - 2.5
        assert [row.top for row in rows[1:]] == [row.top + row.height for row in rows[:-1]]
        assert all(row.size > 1.0 for row in rows) == (size > 1.0), "and are larger from afar"


@pytest.mark.parametrize("count", [1, 2])
def test_rows_near_by_are_in_the_middle(count: int) -> None:
    rows = [row_of(number, count, 1.0) for number in range(count)]
    assert [row.height for row in rows] == [ROW] * count
    assert rows[0].top == TITLE + PADDING / 2
