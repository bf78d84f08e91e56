"""Parts and points of one polyline, whose points lie at any distances."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.gui.canvas.scene import polyline

LINE = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0], [10.0, 10.0]])


def test_a_point_is_found_by_the_way_to_it() -> None:
    assert polyline.along(LINE).tolist() == [0, 1, 10, 20]
    point, way = polyline.at(LINE, 0.25)
    assert (point.tolist(), way.tolist()) == ([5, 0], [1, 0])
    point, way = polyline.at(LINE, 0.75)
    assert (point.tolist(), way.tolist()) == ([10, 5], [0, 1])
    assert polyline.at(LINE, 1.0)[0].tolist() == [10, 10]


def test_a_part_begins_and_ends_where_it_is_said() -> None:
    assert polyline.part(LINE, 3.0, 4.0).tolist() == [[3, 0], [10, 0], [10, 6]]
    assert polyline.part(LINE, 0.0, 0.0).tolist() == LINE.tolist()
    short = polyline.part(LINE, 15.0, 15.0)
    assert len(short) == 2
    assert np.hypot(*(short[1] - short[0])) < 0.01
    assert short[0] == pytest.approx([10, 0], abs=0.01)


def test_the_line_beside_keeps_its_distance() -> None:
    above = polyline.beside(LINE, 2.0)
    assert above[0].tolist() == [0, -2]
    assert above[1].tolist() == [1, -2]
    assert above[-1] == pytest.approx([12, 10])
