"""Where boxes stand: as the document says, else as automatic layout puts them."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, compress
from operator import attrgetter, is_not
from types import MappingProxyType

import numpy as np

from gradstep.core.graph.model import Graph
from gradstep.core.layout import box_diagram as layout_boxes
from gradstep.core.layout.layout_engines import SMALL, layout
from gradstep.core.layout.nested_scopes import SIDE, TITLE
from gradstep.core.persistent.edited_columns import other_keys
from gradstep.core.persistent.sequence_places import changed_places
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, Point, heights
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph, box_id

STEP = layout_boxes.BOX_GAP
_REACHES = (0, 4, 16, 48)  # steps around a wanted place in which a free one is looked for
_ID = attrgetter("id")
NONE: Mapping[str, str] = MappingProxyType({})
NOWHERE: Mapping[str, Point] = MappingProxyType({})


def known(visible: VisibleGraph, positions: Mapping[str, Point]) -> dict[str, Point]:
    """Centres that the document has; a collapsed scope stands amid its operations."""
    ids = [*map(_ID, visible.boxes)]
    if all(map(positions.__contains__, visible.number)):
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
    others = other_keys(before, given)
    if others is not None:
        there = {old: new for old, new in names.items() if old in before}
        keep = (
            old not in given and new not in before and given.get(new) == before[old]
            for old, new in there.items()
        )
        return others == {*there, *there.values()} and all(keep)
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
    is not visible), and each other missing box to one beside what it is wired to, those first that
    are wired to what has a place; nothing that stands moves."""
    if not found:
        return layout(*diagram(visible))
    ids = [*map(_ID, visible.boxes)]
    if found.keys() >= visible.number.keys():
        return dict(zip(ids, map(found.__getitem__, ids), strict=True))
    placed = {id: found[id] for id in ids if id in found}
    boxes, arrows = diagram(visible)
    groups = _missing(visible, placed)
    group_of = {number: name for name, group in groups.items() for number in group}
    ground = _Ground(visible, boxes, placed)
    wires = _wires_of(visible, groups, group_of)
    near = {name for name, group in groups.items() if boxes[group[0]].near}
    for scope in _from_what_stands(group_of, wires, ground.has, near):
        group = groups[scope]
        wanted = others.get(f"{scope}/") or _beside(ground, *wires[scope])
        new = [boxes[number] for number in group]
        came = _among(ground, wanted, new, group[0], arrows)
        ground.take(group, [came[box.id] for box in new])
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


class _Ground:
    """What stands where, of all boxes. middles: float64[n, 2]; has: bool[n], which have a place;
    tall: float64[n].

    What stands does not move, so of each scope there are kept `_inside`, how many boxes of it have
    a place, and `_around`, float64[scopes, 4]: the least x of their middles, their upper edge, the
    largest x and their lower edge."""

    def __init__(
        self,
        visible: VisibleGraph,
        boxes: Sequence[layout_boxes.Box],
        placed: Mapping[str, Point],
    ) -> None:
        self.surroundings = visible.surroundings
        self.tall = np.array([box.height for box in boxes])
        self.has = np.array([box.id in placed for box in boxes], dtype=bool)
        self.middles = np.array([placed.get(box.id, (0.0, 0.0)) for box in boxes]).reshape(-1, 2)
        scopes = dict.fromkeys(chain.from_iterable(self.surroundings))
        self._number = {scope: number for number, scope in enumerate(scopes)}
        self._around = np.full((len(scopes), 4), [np.inf, np.inf, -np.inf, -np.inf])
        self._inside = np.zeros(len(scopes), int)
        self._note(np.flatnonzero(self.has).tolist())

    def take(self, numbers: Sequence[int], centres: Sequence[Point]) -> None:
        self.middles[[*numbers]], self.has[[*numbers]] = centres, True
        self._note(numbers)

    def obstacles(self, number: int) -> np.ndarray:
        """float64[k, 4]: the boxes that stand, and the scopes around them that a box is not in:
        left, top, right, bottom."""
        half = np.stack([np.full(len(self.tall), WIDTH), self.tall], axis=1)[self.has] / 2
        middles = self.middles[self.has]
        framed = self._inside > 1
        framed[[self._number[scope] for scope in self.surroundings[number]]] = False
        across = WIDTH / 2 + SIDE
        frames = self._around[framed] + [-across, -TITLE, across, SIDE]
        boxes = np.concatenate([middles - half, middles + half], axis=1)
        return np.concatenate([boxes, frames])

    def span(self, number: int) -> tuple[float, float]:
        """Between which x the middle of a box may be: no farther out than the others of the
        innermost scope around it that has a place, so that what comes to a scope comes into its
        frame, which nothing else may reach into."""
        for scope in reversed(self.surroundings[number]):
            at = self._number[scope]
            if self._inside[at]:
                return float(self._around[at, 0]), float(self._around[at, 2])
        return -np.inf, np.inf

    def _note(self, numbers: Sequence[int]) -> None:
        """Boxes have a place. All at once: a network has thousands."""
        around = [self.surroundings[number] for number in numbers]
        scopes = np.array([self._number[s] for scopes in around for s in scopes], int)
        boxes = np.repeat(np.array(numbers, int), np.array([*map(len, around)], int))
        (x, y), half = self.middles[boxes].T, self.tall[boxes] / 2
        left, top, right, bottom = self._around.T
        np.minimum.at(left, scopes, x)
        np.minimum.at(top, scopes, y - half)
        np.maximum.at(right, scopes, x)
        np.maximum.at(bottom, scopes, y + half)
        np.add.at(self._inside, scopes, 1)


_Wires = tuple[list[int], list[int]]


def _wires_of(
    visible: VisibleGraph, groups: Iterable[str], group_of: Mapping[int, str]
) -> dict[str, _Wires]:
    """For each group of boxes those outside of it that it reads, and those that read it. group_of:
    by the number of each box that is in one."""
    found: dict[str, _Wires] = {name: ([], []) for name in groups}
    missing = np.isin(visible.ends, [*group_of]).any(axis=1)
    for source, target in visible.ends[missing].tolist():
        from_, to = group_of.get(source), group_of.get(target)
        if from_ == to:
            continue
        if to is not None:
            found[to][0].append(source)
        if from_ is not None:
            found[from_][1].append(target)
    return found


def _from_what_stands(
    group_of: Mapping[int, str],
    wires: Mapping[str, _Wires],
    has: np.ndarray,
    near: Container[str],
) -> Iterator[str]:
    """The groups, each behind one that it is wired to, if that leads to what has a place (`has`,
    bool[n]); what belongs to its readers (`near`) when there is nothing else. None is wired to
    itself."""
    waiting = dict.fromkeys(wires)
    plain, last = deque[str](), deque[str]()

    def add(name: str) -> None:
        (last if name in near else plain).append(name)

    for name in wires:
        if any(map(has.__getitem__, chain(*wires[name]))):
            add(name)
    while waiting:
        queue = plain or last
        name = queue.popleft() if queue else next(iter(waiting))
        if name not in waiting:
            continue
        del waiting[name]
        yield name
        for number in chain(*wires[name]):
            if group_of.get(number) in waiting:
                add(group_of[number])


def _among(
    ground: _Ground,
    wanted: Point,
    boxes: Sequence[layout_boxes.Box],
    number: int,
    arrows: Sequence[layout_boxes.Arrow],
) -> dict[str, Point]:
    """Centres of new boxes, laid out among themselves as near to `wanted` as there is room.
    number: of the first."""
    own = layout(boxes, arrows if len(boxes) > 1 else ())
    centres = np.array([own[box.id] for box in boxes])
    half = np.array([(box.width, box.height) for box in boxes]) / 2
    low, high = (centres - half).min(axis=0), (centres + half).max(axis=0)
    size = high - low
    span = ground.span(number) if len(boxes) == 1 else (-np.inf, np.inf)
    corner = _free(wanted, size, ground.obstacles(number), framed=len(boxes) > 1, span=span)
    return layout_boxes.by_id(boxes, centres - low + corner)


def _beside(ground: _Ground, inputs: Sequence[int], readers: Sequence[int]) -> Point:
    """Left of its readers, and no farther left than half-way to its inputs; else right of its
    inputs; below everything where neither has a place. inputs, readers: numbers of boxes."""
    across = WIDTH + layout_boxes.LAYER_GAP
    before = ground.middles[[n for n in inputs if ground.has[n]]].reshape(-1, 2)
    behind = ground.middles[[n for n in readers if ground.has[n]]].reshape(-1, 2)
    if len(behind):
        x, y = float(behind[:, 0].min()), float(behind[:, 1].mean())
        half_way = (x + float(before[:, 0].max())) / 2 if len(before) else -np.inf
        return max(x - across, min(half_way, x)), y
    if len(before):
        return float(before[:, 0].max()) + across, float(before[:, 1].mean())
    standing = ground.middles[ground.has]
    if not len(standing):
        return 0.0, 0.0
    return float(standing[:, 0].min()), float(standing[:, 1].max()) + 100.0


def beside(rects: np.ndarray) -> Point:
    """Where a node stands that reads some others; rects: float[n, 4] of those."""
    right = float((rects[:, 0] + rects[:, 2]).max())
    middle = float((rects[:, 1] + rects[:, 3] / 2).mean())
    return right + layout_boxes.LAYER_GAP + WIDTH / 2, middle


def free_place(wanted: Point, rects: np.ndarray) -> Point:
    """The place for a node that is nearest to `wanted`; rects: float[n, 4] of what stands there."""
    tall = float(rects[:, 3].max(initial=layout_boxes.BOX_GAP))
    standing = np.concatenate([rects[:, :2], rects[:, :2] + rects[:, 2:]], axis=1)
    left, top = _free(wanted, np.array([WIDTH, tall]), standing)
    return left + WIDTH / 2, top + tall / 2


def _free(
    wanted: Point,
    size: np.ndarray,
    standing: np.ndarray,
    framed: bool = False,
    span: tuple[float, float] = (-np.inf, np.inf),
) -> Point:
    """The upper left corner, on the grid, of the place around `wanted` that nothing is near to:
    nearest to it, the way across counting twice, which leaves the column; of two alike the lower
    one. standing: float[n, 4], left, top, right and bottom of what is there. framed: there is to be
    room for a frame, whose title is looked for where it was: it goes down alone. span: between
    which x the middle stays."""
    grid = layout_boxes.GRID
    middle = np.array([min(max(wanted[0], span[0]), span[1]), wanted[1]])
    corner = np.round((middle - size / 2) / grid) * grid
    room = (SIDE, SIDE, SIDE, TITLE) if framed else (0.0, 0.0, 0.0, 0.0)
    taken = standing + np.array([-1, -1, 1, 1]) * (STEP + np.array(room))
    for reach in _REACHES:
        low, high = corner - reach * STEP, corner + size + reach * STEP
        near = taken[(taken[:, :2] < high).all(axis=1) & (taken[:, 2:] > low).all(axis=1)]
        free = _clear(corner + _ways(reach, framed), size, near)
        across = free[:, 0] + size[0] / 2
        free = free[(across >= span[0] - grid) & (across <= span[1] + grid)]
        if len(free):
            return float(free[0, 0]), float(free[0, 1])
    below = np.ceil(taken[:, 3].max() / grid) * grid
    return float(corner[0]), float(below)


@cache
def _ways(reach: int, down: bool) -> np.ndarray:
    """float64[k, 2]: from a place to those around it, or straight below it, by so many steps, the
    nearest first."""
    one = np.arange(-reach, reach + 1)
    x, y = np.meshgrid([0], one[reach:]) if down else np.meshgrid(one, one)
    order = np.lexsort([x.ravel() < 0, y.ravel() < 0, (2 * np.abs(x) + np.abs(y)).ravel()])
    return np.stack([x.ravel(), y.ravel()], axis=1)[order] * STEP


def _clear(corners: np.ndarray, size: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Those of the places, float64[k, 2], where a box of this size touches nothing."""
    left, top, right, bottom = taken.T[:, np.newaxis]
    x, y = corners.T[..., np.newaxis]
    touched = (x < right) & (x + size[0] > left) & (y < bottom) & (y + size[1] > top)
    return np.asarray(corners[~touched.any(axis=1)])
