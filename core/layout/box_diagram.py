"""What automatic layout takes and gives: boxes with sizes, arrows between them, centres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LAYER_GAP = 64.0  # between the sides of boxes in neighbouring layers, scene units
BOX_GAP = 32.0  # between boxes of one layer
LANE_GAP = 20.0  # around the place that a passing arrow takes in a layer
GRID = 8.0  # corners of boxes land on multiples of it


@dataclass(frozen=True, slots=True)
class Box:
    """One node to place. Sizes in scene units. near: it belongs to its readers, as a constant
    does, and stands beside them rather than with the inputs. scopes: those around it, the
    outermost first; what is in one stands together."""

    id: str
    width: float
    height: float
    near: bool = False
    scopes: Sequence[str] = ()


Arrow = tuple[str, str]  # from, to: ids of boxes
Positions = dict[str, tuple[float, float]]  # id -> centre, scene units; y grows downwards


@dataclass(frozen=True, eq=False)
class Diagram:
    """Boxes and arrows by number.

    sizes: float64[n, 2], width and height.
    arrows: int64[m, 2], without loops and duplicates, in the order of first mention.
    near: bool[n], see Box.
    """

    sizes: np.ndarray
    arrows: np.ndarray
    near: np.ndarray

    @classmethod
    def of(cls, boxes: Sequence[Box], arrows: Sequence[Arrow]) -> Diagram:
        """Arrows that name an unknown box are left out."""
        number = {box.id: i for i, box in enumerate(boxes)}
        pairs = dict.fromkeys(
            (number[a], number[b]) for a, b in arrows if a != b and a in number and b in number
        )
        return cls(
            np.array([(b.width, b.height) for b in boxes], dtype=np.float64).reshape(-1, 2),
            np.array(list(pairs), dtype=np.int64).reshape(-1, 2),
            np.array([box.near for box in boxes], dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def part(self, members: np.ndarray) -> Diagram:
        """The boxes `members` (int64[k]) alone, renumbered in that order."""
        number = np.full(len(self), -1, dtype=np.int64)
        number[members] = np.arange(len(members))
        arrows = number[self.arrows]
        inside = arrows[(arrows >= 0).all(axis=1)]
        return Diagram(self.sizes[members], inside, self.near[members])


def snap_positions(centres: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Centres moved so that the boxes' upper left corners lie on the grid. float64[n, 2]."""
    corners = np.round((centres - sizes / 2) / GRID) * GRID
    return np.asarray(corners + sizes / 2)


def by_id(boxes: Sequence[Box], centres: np.ndarray) -> Positions:
    return {box.id: (float(x), float(y)) for box, (x, y) in zip(boxes, centres, strict=True)}
