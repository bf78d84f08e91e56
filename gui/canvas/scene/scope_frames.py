"""Frames around what belongs together: the boxes of an open scope, of an iteration of a loop."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from gradstep.core.graph.loop import LOOP, Loop, loop_of
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.graph.scopes import parents
from gradstep.core.layout.nested_scopes import SIDE, TITLE

MOST = 200  # of more, those of loops are drawn, and the outermost
_ITERATION = " iteration"  # after a While's name: no operation is called so


@dataclass(frozen=True, eq=False)
class Frame:
    """title: for people; scope: what it frames, "" for a loop's iteration; boxes: bool[n], those
    inside; rect: x, y, width and height, scene units; outer: it is in no other; loop: the While of
    which it frames an iteration."""

    title: str
    scope: str
    boxes: np.ndarray
    rect: tuple[float, float, float, float]
    outer: bool
    loop: str = ""


def titled(found: Sequence[Frame], x: float, y: float) -> Frame | None:
    """The frame in whose title a point of the scene is."""
    for frame in reversed(found):
        left, top, width, _ = frame.rect
        if left <= x <= left + width and top <= y <= top + TITLE:
            return frame
    return None


def surroundings(graph: Graph, boxes: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The scopes and iterations around each box, the outermost first. boxes: their ids, and the
    name of an operation in each."""
    loops: dict[str, tuple[str, ...]] = {}
    own = graph.marked[LOOP]
    _note_loops(graph, map(graph.operations.__getitem__, own), (), loops)
    if not loops and not any("/" in id for id, _ in boxes):
        return [()] * len(boxes)

    @cache
    def within(scope: str, around: tuple[str, ...]) -> tuple[str, ...]:
        scopes = [*parents(scope), scope] if scope else []
        return (*around, *(each for each in scopes if each not in around))

    return [within(id.rstrip("/").rpartition("/")[0], loops.get(name, ())) for id, name in boxes]


def _note_loops(
    graph: Graph,
    operations: Iterable[Operation],
    outer: tuple[str, ...],
    found: dict[str, tuple[str, ...]],
) -> None:
    """Note what is around the operations of each loop. Those inside another one, which stand beside
    it where loops are flattened, are noted with that."""
    for op in operations:
        loop: Loop | None = loop_of(op)
        if loop is not None and (outer or op.name not in found):
            scopes = (scope for scope in parents(op.name) if scope not in outer)
            around = (*outer, *scopes, op.name + _ITERATION)
            found.update((inner.name, around) for inner in loop.graph)
            _note_loops(graph, loop.graph, around, found)


@dataclass(frozen=True, eq=False)
class Measured:
    """What might have a frame, for boxes in some places. rects: float64[n, 4], of these; bounds:
    float64[k, 4], around each; touched: int64[k], how many boxes are in that, in part at least."""

    rects: np.ndarray
    bounds: np.ndarray
    touched: np.ndarray


class Framing:
    """What may get a frame, by what is around each box."""

    def __init__(self, homes: Sequence[tuple[str, ...]]) -> None:
        self._members = {name: np.array(boxes) for name, boxes in _members(homes).items()}
        self._outer = _outer(homes, self._members)
        self._sizes = np.array([*map(len, self._members.values())], dtype=np.int64)
        self._masks: dict[int, np.ndarray] = {}
        self._inmost: tuple[list[str], list[str]] | None = None  # scopes of frames, and of boxes

    def measure(self, rects: np.ndarray, before: Measured | None = None) -> Measured:
        """before: for the same boxes in other places; of those that stand as they did it is not
        asked again in what they are."""
        bounds = _bounds(rects, self._members.values(), self._outer)
        if before is None or not len(bounds):
            counts = [_touched(rects, rect).sum() for rect in bounds]
            return Measured(rects, bounds, np.array(counts, dtype=np.int64))
        touched = before.touched.copy()
        moved = (rects != before.rects).any(axis=1)
        for was, now in zip(before.rects[moved], rects[moved], strict=True):
            touched += _touched(bounds, now).astype(np.int64) - _touched(bounds, was)
        for number in np.flatnonzero((bounds != before.bounds).any(axis=1)):
            touched[number] = _touched(rects, bounds[number]).sum()
        return Measured(rects, bounds, touched)

    def frames(self, measured: Measured) -> tuple[Frame, ...]:
        """Those that no other box and no other frame reaches into."""
        bounds, names = measured.bounds, [*self._members]
        alone = np.flatnonzero(measured.touched == self._sizes)
        rects = bounds[alone]
        kept: set[int] = set()
        found = []
        reached = _touched(rects, rects.T[..., np.newaxis])
        for number, near in zip(alone.tolist(), reached, strict=True):
            outer = self._outer[number]
            if kept.intersection(alone[near].tolist()) <= {*outer}:
                kept.add(number)
                around = names[outer[-1]] if outer else ""
                inside = self._inside(number, len(measured.rects))
                found.append(_frame(names[number], around, inside, bounds[number]))
        return tuple(found)

    def inmost(self, frames: Sequence[Frame], count: int) -> list[str]:
        """Of so many boxes the inmost scope that one of these frames is around, "" for none; known
        from before where an edit moves boxes, and frames with them."""
        scopes = [frame.scope for frame in frames]
        if self._inmost is None or self._inmost[0] != scopes:
            found = [""] * count
            for frame in frames:
                for number in np.flatnonzero(frame.boxes).tolist() if frame.scope else ():
                    found[number] = frame.scope
            self._inmost = scopes, found
        return self._inmost[1]

    def _inside(self, number: int, count: int) -> np.ndarray:
        """bool[n]: the boxes in one of them, of so many."""
        if number not in self._masks:
            inside = self._masks[number] = np.zeros(count, dtype=bool)
            inside[[*self._members.values()][number]] = True
            inside.setflags(write=False)
        return self._masks[number]


def _frame(name: str, outside: str, boxes: np.ndarray, rect: np.ndarray) -> Frame:
    """outside: what the next frame around it frames, or ""."""
    x, y, width, height = rect.tolist()
    loop = name.removesuffix(_ITERATION) if name.endswith(_ITERATION) else ""
    scope = "" if loop else name
    return Frame(_title(name, outside), scope, boxes, (x, y, width, height), not outside, loop)


def _members(homes: Sequence[tuple[str, ...]]) -> dict[str, list[int]]:
    """What gets a frame -> its boxes, the outer ones first. What holds nothing but another frame
    has none: they share it."""
    found: dict[str, list[int]] = {}
    depth: dict[str, int] = {}
    for number, around in enumerate(homes):
        for level, name in enumerate(around):
            found.setdefault(name, []).append(number)
            depth[name] = level
    names = sorted(found, key=lambda name: depth[name])
    inmost = {tuple(found[name]): name for name in names}
    several = [n for n in names if len(found[n]) > 1 and inmost[tuple(found[n])] == n]
    first = {*sorted(several, key=lambda name: not name.endswith(_ITERATION))[:MOST]}
    return {name: found[name] for name in several if name in first}


def _outer(homes: Sequence[tuple[str, ...]], members: Mapping[str, np.ndarray]) -> list[list[int]]:
    """Of each that gets a frame, the numbers of those around it, the outermost first."""
    number = {name: i for i, name in enumerate(members)}
    found = []
    for name, boxes in members.items():
        around = homes[boxes[0]]
        found.append([number[n] for n in around[: around.index(name)] if n in number])
    return found


def _bounds(
    rects: np.ndarray, members: Collection[np.ndarray], outer: Sequence[Sequence[int]]
) -> np.ndarray:
    """Rectangles around boxes and the frames inside. float64[k, 4]."""
    if not members:
        return np.zeros((0, 4))
    starts = np.cumsum([0, *map(len, members)])[:-1]
    x, y, width, height = rects[np.concatenate([*members])].T
    low = np.minimum.reduceat(x, starts), np.minimum.reduceat(y, starts)
    high = np.maximum.reduceat(x + width, starts), np.maximum.reduceat(y + height, starts)
    corners = np.stack([*low, *high], axis=1)
    for number in reversed(range(len(members))):
        one = corners[number]
        one += (-SIDE, -TITLE, SIDE, SIDE)
        for around in outer[number][-1:]:
            other = corners[around]
            other[:2] = np.minimum(other[:2], one[:2])
            other[2:] = np.maximum(other[2:], one[2:])
    corners[:, 2:] -= corners[:, :2]
    return corners


def _touched(rects: np.ndarray, rect: np.ndarray) -> np.ndarray:
    """bool[n]: the rectangles that touch another one; of some others at once, which are
    float64[4, m, 1], bool[m, n]."""
    left, top, width, height = rect
    x, y, wide, tall = rects.T
    return np.asarray(
        (x < left + width) & (y < top + height) & (x + wide > left) & (y + tall > top)
    )


def _title(name: str, outer: str) -> str:
    """What the frame outside does not say already."""
    if name.endswith(_ITERATION):
        loop = name.removesuffix(_ITERATION).rpartition("/")[2]
        return f"every iteration of {loop}"
    return name.removeprefix(f"{outer}/")
