"""Where boxes stand: as the document says, else as automatic layout puts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from operator import attrgetter, is_not
from types import MappingProxyType

import numpy as np

from gradstep.core.graph.model import Graph
from gradstep.core.layout import box_diagram as layout_boxes
from gradstep.core.layout.layout_engines import SMALL, layout
from gradstep.core.layout.nested_scopes import SIDE, TITLE
from gradstep.core.persistent.sequence_places import changed_places
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, Point, heights
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph, box_id

STEP = layout_boxes.BOX_GAP
_ID = attrgetter("id")
NONE: Mapping[str, str] = MappingProxyType({})
NOWHERE: Mapping[str, Point] = MappingProxyType({})


def known(visible: VisibleGraph, positions: Mapping[str, Point]) -> dict[str, Point]:
    """Centres that the document has; a collapsed scope stands amid its operations."""
    ids = [*map(_ID, visible.boxes)]
    if positions.keys() >= visible.number.keys():
        return dict(zip(ids, map(positions.__getitem__, ids), strict=True))
    found: dict[str, Point] = {}
    for box in visible.boxes:
        if box.id in positions:
            found[box.id] = positions[box.id]
        elif box.is_scope:
            inside = [positions[m] for m in box.members if m in positions]
            if len(inside) == len(box.members):
                x, y = np.mean(inside, axis=0).tolist()
                found[box.id] = (x, y)
    return found


def of_renamed(
    names: Mapping[str, str], visible: VisibleGraph, positions: Mapping[str, Point]
) -> dict[str, Point]:
    """Where boxes stood that are only called otherwise now, and have no place of their own:
    renaming moves nothing. names: as `renamed` gives."""
    return {
        new: positions[old]
        for old, new in names.items()
        if old not in visible.number and old in positions and new not in positions
    }


def renamed(visible: VisibleGraph, before: VisibleGraph) -> Mapping[str, str]:
    """What boxes were called -> what those of the same numbers are, where that is something else
    and there are as many."""
    if len(visible.boxes) != len(before.boxes) or visible.number is before.number:
        return NONE
    both = zip(before.boxes, visible.boxes, strict=True)
    differ = compress(both, map(is_not, before.boxes, visible.boxes))
    return {old.id: new.id for old, new in differ if old.id != new.id}


def moves_none(
    names: Mapping[str, str], given: Mapping[str, Point], before: Mapping[str, Point]
) -> bool:
    """Whether all places that are given, and none else, were given before, those of what is called
    otherwise now under its name then."""
    if given is before:
        return not any(new in given for new in names.values())
    keys, old_keys = [*given], [*before]
    places = changed_places(old_keys, keys)
    if places is None or [*given.values()] != [*before.values()]:
        return False
    return all(names.get(old_keys[i]) == keys[i] for i in places)


def diagram(
    visible: VisibleGraph,
) -> tuple[list[layout_boxes.Box], list[layout_boxes.Arrow]]:
    """The visible graph as automatic layout takes it."""
    names = [box.id for box in visible.boxes]
    tall = heights(visible).tolist()
    boxes = [
        layout_boxes.Box(box.id, WIDTH, h, box.type == "Const", scopes)
        for box, h, scopes in zip(visible.boxes, tall, visible.surroundings, strict=True)
    ]
    return boxes, [(names[k.source], names[k.target]) for k in visible.links]


def is_small(visible: VisibleGraph) -> bool:
    """Whether layout takes no time worth a process."""
    return len(visible.boxes) <= SMALL


def are_few(graph: Graph, collapsed: Mapping[str, str]) -> bool:
    """The same of boxes that are not drawn yet; collapsed: as of Source."""
    ids: set[str] = set()
    for name in graph.operations:
        ids.add(box_id(name, collapsed))
        if len(ids) > SMALL:
            return False
    return True


def complete(
    visible: VisibleGraph, found: Mapping[str, Point], others: Mapping[str, Point] = NOWHERE
) -> dict[str, Point]:
    """All centres. With none known the whole is laid out. Else a scope of which no box is known
    goes, laid out, to a free place where it was when it was one box (`others` has centres of what
    is not visible), and each other missing box to one beside what it is wired to; nothing that
    stands moves."""
    if not found:
        return layout(*diagram(visible))
    ids = [*map(_ID, visible.boxes)]
    if found.keys() >= visible.number.keys():
        return dict(zip(ids, map(found.__getitem__, ids), strict=True))
    placed = {id: found[id] for id in ids if id in found}
    boxes, arrows = diagram(visible)
    rows = [(*placed[box.id], box.height) for box in boxes if box.id in placed]
    standing = np.concatenate([np.array(rows).reshape(-1, 3), np.empty((len(boxes), 3))])
    count = len(rows)
    for scope, group in _missing(visible, placed).items():
        wanted = others.get(f"{scope}/") or _within(
            visible, group[0], placed, _beside(visible, group[0], placed)
        )
        new = [boxes[number] for number in group]
        came = _among(standing[:count], wanted, new, arrows)
        standing[count : count + len(new)] = [(*came[box.id], box.height) for box in new]
        count += len(new)
        placed |= came
    return placed


def _missing(visible: VisibleGraph, placed: Mapping[str, Point]) -> dict[str, list[int]]:
    """The boxes without a place, by the outermost scope that has none with one; else each by its
    own id."""
    around = visible.surroundings
    begun = {s for i, box in enumerate(visible.boxes) if box.id in placed for s in around[i]}
    groups: dict[str, list[int]] = {}
    for number, box in enumerate(visible.boxes):
        if box.id not in placed:
            new = next((scope for scope in around[number] if scope not in begun), box.id)
            groups.setdefault(new, []).append(number)
    return groups


def _among(
    standing: np.ndarray,
    wanted: Point,
    boxes: Sequence[layout_boxes.Box],
    arrows: Sequence[layout_boxes.Arrow],
) -> dict[str, Point]:
    """Centres of new boxes, laid out among themselves around `wanted`, or as far below it as there
    is room. standing: float[n, 3], centre and height of each box that is there."""
    own = layout(boxes, arrows if len(boxes) > 1 else ())
    centres = np.array([own[box.id] for box in boxes])
    half = np.array([(box.width, box.height) for box in boxes]) / 2
    low, high = (centres - half).min(axis=0), (centres + half).max(axis=0)
    left, top = _free(wanted, high - low, standing, framed=len(boxes) > 1)
    return layout_boxes.by_id(boxes, centres - low + (left, top))


def _beside(visible: VisibleGraph, number: int, placed: Mapping[str, Point]) -> Point:
    """Right of its inputs, else left of its readers, else below everything."""
    across = WIDTH + layout_boxes.LAYER_GAP
    sources, targets = visible.ends.T
    inputs = _places(visible, sources[targets == number], placed)
    readers = _places(visible, targets[sources == number], placed)
    if inputs:
        return max(x for x, _ in inputs) + across, sum(y for _, y in inputs) / len(inputs)
    if readers:
        return min(x for x, _ in readers) - across, sum(y for _, y in readers) / len(readers)
    if not placed:
        return 0.0, 0.0
    return min(x for x, _ in placed.values()), max(y for _, y in placed.values()) + 100.0


def _within(
    visible: VisibleGraph, number: int, placed: Mapping[str, Point], wanted: Point
) -> Point:
    """The same, across no farther out than the others of the innermost scope that has a place: so
    that what comes to a scope comes into its frame, which nothing else may reach into."""
    scopes = [*visible.surroundings[number]]
    while scopes:
        scope = scopes.pop()
        own = [
            placed[box.id][0]
            for box, around in zip(visible.boxes, visible.surroundings, strict=True)
            if box.id in placed and scope in around
        ]
        if own:
            return min(max(wanted[0], min(own)), max(own)), wanted[1]
    return wanted


def _places(visible: VisibleGraph, boxes: np.ndarray, placed: Mapping[str, Point]) -> list[Point]:
    """Of those boxes (their numbers) that have one."""
    names = [visible.boxes[i].id for i in boxes.tolist()]
    return [placed[name] for name in names if name in placed]


def beside(rects: np.ndarray) -> Point:
    """Where a node stands that reads some others; rects: float[n, 4] of those."""
    right = float((rects[:, 0] + rects[:, 2]).max())
    middle = float((rects[:, 1] + rects[:, 3] / 2).mean())
    return right + layout_boxes.LAYER_GAP + WIDTH / 2, middle


def free_place(wanted: Point, rects: np.ndarray) -> Point:
    """The first place for a node at or below `wanted`; rects: float[n, 4] of what stands there."""
    tall = float(rects[:, 3].max(initial=layout_boxes.BOX_GAP))
    standing = np.column_stack([rects[:, :2] + rects[:, 2:] / 2, rects[:, 3]])
    left, top = _free(wanted, np.array([WIDTH, tall]), standing)
    return left + WIDTH / 2, top + tall / 2


def _free(wanted: Point, size: np.ndarray, standing: np.ndarray, framed: bool = False) -> Point:
    """The upper left corner, on the grid, of the first place around or below `wanted` that no box
    is near to; standing: as for `_among`. framed: there is to be room for a frame."""
    grid = layout_boxes.GRID
    left, top = (np.round((np.array(wanted) - size / 2) / grid) * grid).tolist()
    right, tall = left + size[0], size[1]
    above, below = (STEP + TITLE, STEP + SIDE) if framed else (STEP, STEP)
    x, y, height = standing.T
    reach = WIDTH / 2 + (SIDE if framed else grid)
    across = (x > left - reach) & (x < right + reach)
    y, half = y[across], height[across] / 2
    while ((y + half > top - above) & (y - half < top + tall + below)).any():
        top += STEP
    return left, top
