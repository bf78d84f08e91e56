"""Layout scope by scope: what is in a scope stands together, as one box among those around it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np

from gradstep.core.layout.box_diagram import Arrow, Box, Diagram, Positions

Engine = Callable[[Diagram], np.ndarray]  # centres of a diagram's boxes, float64[n, 2]

# Room that a scope takes around what is in it, scene units: multiples of the grid.
SIDE = 16.0
TITLE = 32.0  # above

_Item = int | str  # the number of a box, or a scope
_Pair = tuple[int, int]


def arrange(boxes: Sequence[Box], arrows: Sequence[Arrow], engine: Engine) -> Positions:
    """Centres of the boxes, where `engine` puts those of each scope among themselves.

    A scope that would need arrows both to and from something beside it is not kept together, so
    that in an acyclic diagram every arrow still goes right.
    """
    number = {box.id: i for i, box in enumerate(boxes)}
    pairs = [(number[a], number[b]) for a, b in arrows if a != b and a in number and b in number]
    homes = {i: tuple(box.scopes) for i, box in enumerate(boxes)}
    centres = _level(boxes, homes, pairs, _once(engine)).centres
    return {boxes[i].id: centre for i, centre in sorted(centres.items())}


def _once(engine: Engine) -> Engine:
    """The same engine, which lays out diagrams that are alike, as of repeated blocks, only once."""
    known: dict[tuple[bytes, ...], np.ndarray] = {}

    def centres(diagram: Diagram) -> np.ndarray:
        key = (diagram.sizes.tobytes(), diagram.arrows.tobytes(), diagram.near.tobytes())
        if key not in known:
            known[key] = engine(diagram)
        return known[key]

    return centres


@dataclass(frozen=True)
class _Placed:
    """Box number -> centre, from the upper left corner of all; width and height of all."""

    centres: Mapping[int, tuple[float, float]]
    size: tuple[float, float]


def _level(
    boxes: Sequence[Box],
    homes: Mapping[int, tuple[str, ...]],
    pairs: Sequence[_Pair],
    engine: Engine,
) -> _Placed:
    """One scope's content. homes: box number -> the scopes around it that are inside this one."""
    homes = _untangled(homes, pairs)
    items = _items(homes)
    place = {member: i for i, members in enumerate(items.values()) for member in members}
    ends: dict[_Pair, None] = {}
    within: list[list[_Pair]] = [[] for _ in items]
    for a, b in pairs:
        if place[a] == place[b]:
            within[place[a]].append((a, b))
        else:
            ends[place[a], place[b]] = None
    parts = [
        _part(boxes, {m: homes[m][1:] for m in members}, inner, engine)
        for members, inner in zip(items.values(), within, strict=True)
    ]
    sizes = np.array([part.size for part in parts]).reshape(-1, 2)
    near = [isinstance(item, int) and boxes[item].near for item in items]
    arrows = np.array(list(ends), dtype=np.int64).reshape(-1, 2)
    corners = engine(Diagram(sizes, arrows, np.array(near, dtype=bool))) - sizes / 2
    corners -= corners.min(axis=0)
    centres = {
        member: (x + left, y + top)
        for part, (left, top) in zip(parts, corners.tolist(), strict=True)
        for member, (x, y) in part.centres.items()
    }
    width, height = (corners + sizes).max(axis=0).tolist()
    return _Placed(centres, (width, height))


def _items(homes: Mapping[int, tuple[str, ...]]) -> dict[_Item, list[int]]:
    """What stands side by side -> the boxes in it."""
    items: dict[_Item, list[int]] = {}
    for number, scopes in homes.items():
        items.setdefault(scopes[0] if scopes else number, []).append(number)
    return items


def _part(
    boxes: Sequence[Box],
    homes: Mapping[int, tuple[str, ...]],
    pairs: Sequence[_Pair],
    engine: Engine,
) -> _Placed:
    """A box, or a scope with the room around what is in it; one with a single box is that box.
    homes: the scopes inside that one."""
    first, *others = homes
    if not others:
        box = boxes[first]
        return _Placed({first: (box.width / 2, box.height / 2)}, (box.width, box.height))
    inner = _level(boxes, homes, pairs, engine)
    if len({scopes[:1] for scopes in homes.values()}) == 1 and homes[first]:
        return inner  # a scope that holds just another: they share the room around
    centres = {m: (x + SIDE, y + TITLE) for m, (x, y) in inner.centres.items()}
    width, height = inner.size
    return _Placed(centres, (width + 2 * SIDE, height + TITLE + SIDE))


def _untangled(
    homes: Mapping[int, tuple[str, ...]], pairs: Iterable[_Pair]
) -> Mapping[int, tuple[str, ...]]:
    """The same without the outermost scopes that cannot stand as one box among the others."""
    pairs = list(pairs)
    while True:
        item: dict[int, _Item] = {n: scopes[0] if scopes else n for n, scopes in homes.items()}
        ends = {(item[a], item[b]) for a, b in pairs if item[a] != item[b]}
        tangled = {item for item in _on_cycles(ends) if isinstance(item, str)}
        if not tangled:
            return homes
        homes = {
            n: scopes[1:] if scopes and scopes[0] in tangled else scopes
            for n, scopes in homes.items()
        }


def _on_cycles(ends: Collection[tuple[_Item, _Item]]) -> set[_Item]:
    """What an arrow leads away from, and others lead back to."""
    before: dict[_Item, list[_Item]] = {}
    for a, b in ends:
        before.setdefault(b, []).append(a)
    try:
        TopologicalSorter(before).prepare()
    except CycleError:  # nearly never: only now is it worth loading what finds them all
        import networkx

        parts = networkx.strongly_connected_components(networkx.DiGraph(ends))
        return {item for part in parts if len(part) > 1 for item in part}
    return set()
