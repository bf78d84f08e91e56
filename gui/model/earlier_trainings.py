"""The trainings before the one that is under way: their curves, named, shown or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
    this one; tags: what event files call them, of one that was read out of such, by expression."""

    number: int
    name: str
    points: Mapping[str, AnyPoints]
    shown: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The last step that a point is known of; -1 for none."""
        return max((points.stop - 1 for points in self.points.values()), default=-1)

    def points_of(self, text: str) -> AnyPoints | None:
        """The points of an expression; event files know no ":0"."""
        return self.points.get(short_text(text) if self.tags else text)


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
            self._keep(EarlierTraining(self.number, name, points))

    def add_events(self, name: str, points: Mapping[str, AnyPoints]) -> None:
        """One that event files tell of. points: by tag."""
        tags = {f'x["{tag}"]': tag for tag in points}
        by_text = {text: points[tag] for text, tag in tags.items()}
        called = f"{self.number} · {name}"
        self._keep(EarlierTraining(self.number, called, by_text, tags=tags))

    def _keep(self, new: EarlierTraining) -> None:
        self._kept = [new, *self._kept[: MOST - 1]]
        self.number += 1

    def drop(self, training: EarlierTraining) -> None:
        """Forget it."""
        self._kept = [kept for kept in self._kept if kept is not training]

    def drop_tag(self, text: str) -> None:
        """Forget what event files say of an expression."""
        for kept in self._kept:
            if kept.tags:
                kept.points = {key: each for key, each in kept.points.items() if key != text}

    def clear(self) -> None:
        """Forget all: another document."""
        self._kept, self.number = [], 1

    def points_of(self, text: str) -> list[AnyPoints]:
        """Those of an expression that are to be shown, the newest first."""
        found = (kept.points_of(text) for kept in self._kept if kept.shown)
        return [points for points in found if points is not None]

    def points_beside(self, curve: Curve) -> list[AnyPoints]:
        """Those that are to be shown with a curve, but its own."""
        return [points for points in self.points_of(curve.text) if points is not curve.points]


def short_text(text: str) -> str:
    """The expression of a tensor as event files name it: `x["loss"]` for `x["loss:0"]`."""
    return text.replace(':0"]', '"]')
