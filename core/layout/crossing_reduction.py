"""Order within the layers: barycentre sweeps and neighbour swaps, keeping the fewest crossings."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gradstep.core.layout.box_diagram import Diagram
from gradstep.core.layout.layer_assignment import acyclic

MAX_LANES = 20_000  # places for passing arrows; longer arrows beyond that are drawn without
SWEEPS = 12
SWAP_LIMIT = 500  # vertices; above it neighbour swaps cost more than they bring


@dataclass(frozen=True, eq=False)
class Layered:
    """Boxes and lanes (where an arrow passes a layer) as vertices; boxes come first.

    layer: int64[v]; links: int64[k, 2], each from one layer to the next;
    lane: bool[v].
    """

    layer: np.ndarray
    links: np.ndarray
    lane: np.ndarray

    @property
    def depth(self) -> int:
        return int(self.layer.max()) + 1 if len(self.layer) else 0


def with_lanes(diagram: Diagram, layer: np.ndarray) -> Layered:
    """Cut arrows over several layers into links between neighbours, the shortest arrows first."""
    arrows = acyclic(diagram)
    span = layer[arrows[:, 1]] - layer[arrows[:, 0]]
    levels = layer.tolist()
    links: list[tuple[int, int]] = []
    for number in np.argsort(span, kind="stable").tolist():
        source, target = arrows[number].tolist()
        passed = range(levels[source] + 1, levels[target])
        if len(levels) - len(layer) + len(passed) > MAX_LANES:
            break
        lanes = range(len(levels), len(levels) + len(passed))
        levels.extend(passed)
        stops = [source, *lanes, target]
        links.extend(pairwise(stops))
    count = len(levels)
    return Layered(
        np.array(levels, dtype=np.int64),
        np.array(links, dtype=np.int64).reshape(-1, 2),
        np.arange(count) >= len(layer),
    )


def order(layered: Layered) -> list[np.ndarray]:
    """For each layer its vertices from top to bottom."""
    rows = [np.flatnonzero(layered.layer == i) for i in range(layered.depth)]
    between = _links_by_layer(layered)
    place = np.zeros(len(layered.layer))
    best, fewest = _copy(rows), _crossings(rows, between)
    for sweep in range(SWEEPS):
        _sweep(rows, between, place, forward=sweep % 2 == 0)
        if len(layered.layer) <= SWAP_LIMIT:
            _swap(rows, between)
        count = _crossings(rows, between)
        if count < fewest:
            best, fewest = _copy(rows), count
        if fewest == 0:
            break
    return best


def _copy(rows: list[np.ndarray]) -> list[np.ndarray]:
    return [row.copy() for row in rows]


def _links_by_layer(layered: Layered) -> list[np.ndarray]:
    starts = layered.layer[layered.links[:, 0]]
    return [layered.links[starts == i] for i in range(max(layered.depth - 1, 0))]


def _sweep(
    rows: list[np.ndarray], between: list[np.ndarray], place: np.ndarray, forward: bool
) -> None:
    """Sort each layer by the mean place of the neighbours in the layer before it."""
    for row in rows:
        place[row] = np.arange(len(row))
    numbers = range(1, len(rows)) if forward else range(len(rows) - 2, -1, -1)
    for i in numbers:
        links = between[i - 1] if forward else between[i][:, ::-1]
        total = np.bincount(links[:, 1], place[links[:, 0]], minlength=len(place))[rows[i]]
        count = np.bincount(links[:, 1], minlength=len(place))[rows[i]]
        wanted = np.where(count > 0, total / np.maximum(count, 1), place[rows[i]])
        rows[i] = rows[i][np.argsort(wanted, kind="stable")]
        place[rows[i]] = np.arange(len(rows[i]))


def _crossings(rows: list[np.ndarray], between: list[np.ndarray]) -> int:
    place = {int(v): i for row in rows for i, v in enumerate(row)}
    total = 0
    for links in between:
        ends = sorted((place[a], place[b]) for a, b in links.tolist())
        seen: list[int] = []
        for _, end in ends:
            total += len(seen) - bisect_right(seen, end)
            insort(seen, end)
    return total


def _swap(rows: list[np.ndarray], between: list[np.ndarray]) -> None:
    """Exchange neighbours within a layer where that removes crossings."""
    place = {int(v): i for row in rows for i, v in enumerate(row)}
    sides: dict[int, tuple[list[int], list[int]]] = {v: ([], []) for v in place}
    for links in between:
        for a, b in links.tolist():
            sides[a][1].append(b)
            sides[b][0].append(a)
    for row in rows:
        for i in range(len(row) - 1):
            upper, lower = int(row[i]), int(row[i + 1])
            gain = sum(
                _pair(place, sides[upper][s], sides[lower][s])
                - _pair(place, sides[lower][s], sides[upper][s])
                for s in (0, 1)
            )
            if gain > 0:
                row[i], row[i + 1] = lower, upper
                place[upper], place[lower] = i + 1, i


def _pair(place: dict[int, int], upper: list[int], lower: list[int]) -> int:
    """Crossings between the links of two neighbours on one side."""
    return sum(place[a] > place[b] for a in upper for b in lower)
