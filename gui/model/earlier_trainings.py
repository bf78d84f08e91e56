"""The trainings before the one that is under way: their curves, named, shown or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.sampled_points import SampledPoints

if TYPE_CHECKING:
    from gradstep.gui.model.training import Curve

MOST = 6  # trainings; then the oldest goes

AnyPoints = Points | SampledPoints


@dataclass(eq=False)
class EarlierTraining:
    """name: for people; points: by the expression that they are of; shown: under the curves of
    this one."""

    number: int
    name: str
    points: Mapping[str, AnyPoints]
    shown: bool = True

    @property
    def last(self) -> int:
        """The last step that a point is known of; -1 for none."""
        return max((points.stop - 1 for points in self.points.values()), default=-1)


class EarlierTrainings:
    """The last ones, the newest first. number: of the one after them."""

    def __init__(self) -> None:
        self.number = 1
        self._kept: list[EarlierTraining] = []

    def __iter__(self) -> Iterator[EarlierTraining]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, words: str, curves: Iterable[Curve]) -> None:
        """One is over: what is known of `curves`, if anything is. words: how it was done."""
        points = {curve.text: curve.points for curve in curves if len(curve.points)}
        if points:
            name = f"{self.number} · {words}" if words else str(self.number)
            new = EarlierTraining(self.number, name, points)
            self._kept = [new, *self._kept[: MOST - 1]]
            self.number += 1

    def drop(self, training: EarlierTraining) -> None:
        """Forget it."""
        self._kept = [kept for kept in self._kept if kept is not training]

    def clear(self) -> None:
        """Forget all: another document."""
        self._kept, self.number = [], 1

    def points_of(self, text: str) -> list[AnyPoints]:
        """Those of an expression that are to be shown, the newest first."""
        found = (kept.points.get(text) for kept in self._kept if kept.shown)
        return [points for points in found if points is not None]
