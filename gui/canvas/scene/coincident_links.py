"""Curves of links that lie upon each other: one of each is enough to draw."""

from __future__ import annotations

import numpy as np


def distinct(curves: np.ndarray, are_lanes: np.ndarray, phases: np.ndarray) -> np.ndarray:
    """Numbers of the curves (float64[p, 4, 2]) that are not drawn by others: of those that are the
    same one, and of lanes (bool[p]) those that are not part of another.

    phases: float64[p], equal for curves whose dashes lie upon each other.
    """
    lanes, others = np.flatnonzero(are_lanes), np.flatnonzero(~are_lanes)
    rows = np.concatenate([curves.reshape(-1, 8), phases[:, None]], axis=1)
    _, first = np.unique(rows[others], axis=0, return_index=True)
    left, right, height = curves[lanes, 0, 0], curves[lanes, 3, 0], curves[lanes, 0, 1]
    whole = _widest(np.stack([height, phases[lanes]], axis=1), left, right)
    return np.sort(np.concatenate([others[first], lanes[whole]]))


def _widest(keys: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Numbers of the ranges that are in no other with the same keys. float64[k, j], float64[k]."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((-right, left, *keys.T))
    new = np.append(True, (keys[order[1:]] != keys[order[:-1]]).any(axis=1))
    group = np.cumsum(new)
    span = float(right.max() - right.min()) + 1.0
    reach = np.maximum.accumulate(group * span + (right[order] - right.min()))
    inside = np.append(False, reach[1:] == reach[:-1])
    return np.asarray(order[~inside])
