"""Hubs: outputs that more read than lines could be followed, and boxes that wait for as many.

Of their links only the ends are drawn, as stubs: at each other end, and one at the hub, with their
number. They are drawn out while an end of them is selected or pointed at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

MOST = 32  # links that are drawn whole from one output, or to one box that waits
DENSE = 16  # numbers of ports to each link, at most, for them to be counted
STUB = 22.0  # scene units


@dataclass(frozen=True, eq=False)
class Hub:
    """An output port (of a control link: the title) of box number `box`, or where the links of
    what it waits for end. links: int64[k], their numbers."""

    box: int
    port: int
    is_output: bool
    is_control: bool
    links: np.ndarray


@dataclass(frozen=True, eq=False)
class Hubs:
    """at_target, at_source: bool[m], links of which only that end is drawn."""

    all: tuple[Hub, ...]
    at_target: np.ndarray
    at_source: np.ndarray

    @property
    def stubs(self) -> np.ndarray:
        """bool[m]: links that are not drawn whole."""
        return np.asarray(self.at_target | self.at_source)

    def at_port(self, box: int, port: int) -> np.ndarray:
        """int64[k]: the numbers of the stubs that come from an output port."""
        same = (hub for hub in self.all if (hub.box, hub.port) == (box, port))
        return _joined([hub.links for hub in same if hub.is_output and not hub.is_control])


def find_hubs(visible: VisibleGraph) -> Hubs:
    """The hubs of a visible graph; a link between two of them belongs to the first."""
    (source, target), (out, _), control = visible.ends.T, visible.end_ports.T, visible.control
    none = np.zeros(len(control), dtype=bool)
    if len(control) <= MOST:
        return Hubs((), none, none)
    ports = int(out.max(initial=0)) + 1
    sources = _grouped((source * ports + out) * 2 + control, ~none)
    at_target = none.copy()
    at_target[_joined(sources)] = True
    targets = _grouped(target, control & ~at_target)
    at_source = none.copy()
    at_source[_joined(targets)] = True
    found = [_hub(visible, links, is_output=True) for links in sources]
    found += [_hub(visible, links, is_output=False) for links in targets]
    return Hubs(tuple(found), at_target, at_source)


def _grouped(keys: np.ndarray, chosen: np.ndarray) -> list[np.ndarray]:
    """The numbers of the chosen links that have the same key, where they are too many."""
    numbers = np.flatnonzero(chosen)
    if keys.max(initial=0) < DENSE * len(keys):  # most are among few, which need no sorting
        counts = np.bincount(keys[numbers])
        numbers = numbers[counts[keys[numbers]] > MOST]
    order = numbers[np.argsort(keys[numbers], kind="stable")]
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))  # no key is negative
    stops = np.append(starts[1:], len(order))
    many = stops - starts > MOST
    return [order[a:b] for a, b in zip(starts[many], stops[many], strict=True)]


def _hub(visible: VisibleGraph, links: np.ndarray, is_output: bool) -> Hub:
    first = int(links[0])
    side = 0 if is_output else 1
    box, port = int(visible.ends[first, side]), int(visible.end_ports[first, side])
    return Hub(box, port, is_output, bool(visible.control[first]), links)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
