"""Where the tiles of an icicle lie: the whole above its parts, each as wide as its share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradstep.gui.model.cost_tree import Cost, phase_order

NARROW = 3.0  # pixels; neighbours that are narrower become one tile


@dataclass(frozen=True, eq=False)
class Tile:
    """cost: None for a tile of several that are too narrow, of which `rest` counts them.

    level: 0 for the whole; parent: number of the tile above, -1 for the whole's."""

    cost: Cost | None
    x: float
    width: float
    level: int
    parent: int
    rest: int = 0

    def holds(self, x: float, level: int) -> bool:
        return self.level == level and self.x <= x < self.x + self.width


def lay_out(whole: Cost, by: str, width: float, levels: int) -> list[Tile]:
    """The tiles of the first `levels` levels, parents before their children, over `width` pixels.
    by: "time" or "bytes". Phases keep their order; all else is sorted, the largest first."""
    tiles = [Tile(whole, 0.0, width, 0, -1)]
    for number, tile in _growing(tiles):
        if tile.cost is not None and tile.level + 1 < levels:
            tiles.extend(_below(number, tile, tile.cost, by))
    return tiles


def _growing(tiles: list[Tile]) -> Iterator[tuple[int, Tile]]:
    """The tiles with their numbers, those too that are added on the way."""
    number = 0
    while number < len(tiles):
        yield number, tiles[number]
        number += 1


def _below(number: int, tile: Tile, cost: Cost, by: str) -> Iterator[Tile]:
    amount, x = cost.amount(by), tile.x
    children = in_order(cost.children, by)
    for place, child in enumerate(children):
        width = tile.width * child.amount(by) / amount if amount else 0.0
        if width < NARROW and not _is_phase(child):
            left = tile.x + tile.width - x
            if left >= 1:
                yield Tile(None, x, left, tile.level + 1, number, len(children) - place)
            return
        yield Tile(child, x, width, tile.level + 1, number)
        x += width


def in_order(children: Sequence[Cost], by: str) -> list[Cost]:
    """As they stand from left to right."""
    if children and all(_is_phase(child) for child in children):
        return sorted(children, key=lambda c: phase_order(c.phase))
    return sorted(children, key=lambda c: c.amount(by), reverse=True)


def _is_phase(cost: Cost) -> bool:
    return cost.key == f"phase:{cost.phase}|"


def path_to(whole: Cost, key: str) -> list[Cost]:
    """From the whole down to the cost of this key; empty when there is none."""
    if whole.key == key:
        return [whole]
    for child in whole.children:
        if below := path_to(child, key):
            return [whole, *below]
    return []
