"""What lies under a point of the scene: a port, a box, a link, a frame's title, or nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradstep.gui.canvas.scene.scene_arrays import Point, SceneArrays
from gradstep.gui.canvas.scene.scope_frames import Frame, titled

PORT_REACH = 9.0  # scene units around a port that count as the port
LINK_REACH = 6.0  # pixels around a link
FINER = 20.0  # times that a link's chords are nearer to it


@dataclass(frozen=True, slots=True)
class Port:
    """Input or output number `index` of box number `box`."""

    box: int
    index: int
    is_output: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """At most one of them is set; a port's box is set with it. frame: the one whose title it is."""

    port: Port | None = None
    box: int | None = None
    link: int | None = None
    frame: Frame | None = None

    def __bool__(self) -> bool:
        return any(found is not None for found in (self.box, self.link, self.frame))


def at(arrays: SceneArrays, point: Point, scale: float) -> Hit:
    """What a click at `point` (scene units) means."""
    x, y = point
    reach = PORT_REACH
    near = arrays.from_below(arrays.boxes_in(x - reach, y - reach, x + reach, y + reach))
    inside = arrays.boxes_in(x, y, x, y)
    for box in reversed(near.tolist()):
        port = _port(arrays, box, point)
        if port is not None or inside[box]:
            return Hit(port=port, box=box)
    link = nearest_link(arrays, point, LINK_REACH / scale)
    return Hit(frame=titled(arrays.frames, x, y)) if link is None else Hit(link=link)


def port_point(arrays: SceneArrays, port: Port) -> Point:
    place = arrays.output_port if port.is_output else arrays.input_port
    return place(port.box, port.index)


def ports(arrays: SceneArrays, box: int) -> list[Port]:
    """All ports of an operation's box; a scope's stand for many wires and take none."""
    shown = arrays.visible.boxes[box]
    if shown.is_scope:
        return []
    return [
        *(Port(box, i, is_output=True) for i in range(shown.outputs)),
        *(Port(box, i, is_output=False) for i in range(shown.inputs)),
    ]


def nearest_link(arrays: SceneArrays, point: Point, reach: float) -> int | None:
    """The link nearest to a point, if one is within `reach` (scene units)."""
    x, y = point
    sides = x - reach, y - reach, x + reach, y + reach
    links, pieces = arrays.routes.pieces(np.flatnonzero(arrays.links_in(*sides)), sides)
    if not len(links):
        return None
    lines = arrays.routes.flat(links, pieces, reach / FINER)
    chords = lines.segments()
    start, along = chords[:, :2], chords[:, 2:] - chords[:, :2]
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    share = np.clip(((point - start) * along).sum(axis=1) / length, 0, 1)
    gap = np.hypot(*(start + along * share[:, None] - point).T)
    best = int(gap.argmin())
    return int(links[lines.owners[best]]) if gap[best] <= reach else None


def _port(arrays: SceneArrays, box: int, point: Point) -> Port | None:
    """The nearest port within reach."""
    best, found = PORT_REACH, None
    for port in ports(arrays, box):
        x, y = port_point(arrays, port)
        gap = max(abs(x - point[0]), abs(y - point[1]) * 1.2)
        if gap < best:
            best, found = gap, port
    return found
