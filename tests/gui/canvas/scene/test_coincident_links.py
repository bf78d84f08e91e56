"""Of curves that lie upon each other one is drawn."""

from __future__ import annotations

import numpy as np

from gradstep.gui.canvas.scene.coincident_links import distinct
from gradstep.gui.canvas.scene.link_routing import LANE, along_lanes


def ways(*ends: tuple[float, float]) -> np.ndarray:
    """From ports below a lane to one port, as all assignments lead to one group."""
    starts = np.array(ends)
    lanes = np.stack([starts[:, 0] + 56, np.full(len(ends), 1_000.0), np.zeros(len(ends))], axis=1)
    return along_lanes(starts, np.full((len(ends), 2), (1_056.0, 90.0)), lanes)


def test_links_that_end_together_share_their_lane_and_their_end() -> None:
    curves = ways((0.0, 50.0), (200.0, 50.0), (400.0, 70.0))
    pieces = np.tile(np.arange(5), 3)
    kept = distinct(curves.reshape(-1, 4, 2), pieces == LANE, np.zeros(15))
    assert pieces[kept].tolist() == [0, 1, LANE, 3, 4, 0, 1, 0, 1]
    assert kept[2] == LANE, "the longest lane"


def test_dashes_that_lie_elsewhere_keep_their_lane() -> None:
    curves = ways((0.0, 50.0), (200.0, 50.0))[:, LANE]
    both = np.ones(2, dtype=bool)
    assert len(distinct(curves, both, np.array([3.0, 3.0]))) == 1
    assert len(distinct(curves, both, np.array([3.0, 4.0]))) == 2


def test_lanes_at_other_heights_or_apart_are_all_drawn() -> None:
    curves = ways((0.0, 50.0), (200.0, 50.0), (400.0, 50.0))[:, LANE]
    curves[1, :, 1] += 8
    curves[2, :, 0] += 2_000
    assert distinct(curves, np.ones(3, dtype=bool), np.zeros(3)).tolist() == [0, 1, 2]


def test_none_of_none() -> None:
    nothing = np.zeros(0, dtype=bool)
    assert len(distinct(np.zeros((0, 4, 2)), nothing, np.zeros(0))) == 0
