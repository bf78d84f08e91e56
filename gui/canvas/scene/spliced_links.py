"""The links of a visible graph after an edit, each with the number that it had before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.visible_graph import Link


class Spliced(NamedTuple):
    """links: of which the first `wired` carry something. numbers: int64[m], the number of each in
    the graph before, where it joins the same ports of the same boxes; -1 where none did."""

    links: tuple[Link, ...]
    wired: int
    numbers: np.ndarray


class Splicer:
    """Puts links together out of those that there were and new ones."""

    def __init__(self, before: tuple[Link, ...]) -> None:
        self._before = before
        self._links: list[Link] = []
        self._numbers: list[np.ndarray] = []

    def keep(self, start: int, stop: int) -> None:
        """Those from number `start` on that there were."""
        self._links += self._before[start:stop]
        self._numbers.append(np.arange(start, stop))

    def renew(self, start: int, stop: int, links: Sequence[Link]) -> None:
        """Others in the place of those from number `start` on; the very ones where they say the
        same."""
        old = self._before[start:stop]
        if [*old] == links:
            self.keep(start, stop)
            return
        known = {link[:4]: number for number, link in enumerate(old, start)}
        numbers = [known.get(link[:4], -1) for link in links]
        self._links += links
        self._numbers.append(np.array(numbers, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._links)

    def found(self, wired: int) -> Spliced:
        """All of them; of which so many carry something."""
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])
        links = tuple(self._links)
        return Spliced(self._before if links == self._before else links, wired, numbers)
