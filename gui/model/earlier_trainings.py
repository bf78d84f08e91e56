"""The trainings before the one that is under way: their curves, named, shown or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.histogram_points import HistogramPoints
from gradstep.gui.model.run_history import RunHistory
from gradstep.gui.model.sampled_points import SampledPoints
from gradstep.gui.model.training_curve import Curve, renamed_text

MOST = 6  # trainings that are listed
KEPT = 24  # of all that runs may come back to; then the oldest goes

AnyPoints = Points | SampledPoints


@dataclass(eq=False)
class EarlierTraining:
    """name: for people; points: by the expression that they are of; shown: under the curves of
    this one; tags: what event files call them, of one that was read out of such, by expression.
    runs: those that the points are of, None where the document has none of them; histograms: of
    these, by expression."""

    number: int
    name: str
    points: Mapping[str, AnyPoints]
    shown: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)
    runs: RunHistory | None = None
    histograms: Mapping[str, HistogramPoints] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The last step that a point is known of; -1 for none."""
        return max((points.stop - 1 for points in self.points.values()), default=-1)

    def points_of(self, text: str) -> AnyPoints | None:
        """The points of an expression; event files know no ":0"."""
        return self.points.get(short_text(text) if self.tags else text)

    def rename(self, name_of: Callable[[str], str]) -> None:
        """Operations are called otherwise now; event files know them by their tags."""
        if not self.tags:
            self.points = {renamed_text(text, name_of): x for text, x in self.points.items()}
            self.histograms = {
                renamed_text(text, name_of): x for text, x in self.histograms.items()
            }


class EarlierTrainings:
    """The last ones, the newest first. number: of the one after them. Of those that runs may come
    back to more are kept than are listed."""

    def __init__(self) -> None:
        self.number = 1
        self._kept: list[EarlierTraining] = []

    def __iter__(self) -> Iterator[EarlierTraining]:
        return iter(self._kept[:MOST])

    def __len__(self) -> int:
        return min(len(self._kept), MOST)

    @property
    def of_runs(self) -> Sequence[EarlierTraining]:
        """Those of runs of the document, the newest first."""
        return [kept for kept in self._kept if kept.runs is not None]

    def add(self, words: str, curves: Iterable[Curve]) -> None:
        """One is over: what is known of `curves`, if anything is. words: how it was done."""
        points = {curve.text: curve.points for curve in curves if len(curve.points)}
        if points:
            self.keep(EarlierTraining(0, words, points))

    def add_events(self, name: str, points: Mapping[str, AnyPoints]) -> None:
        """One that event files tell of. points: by tag."""
        tags = {f'x["{tag}"]': tag for tag in points}
        by_text = {text: points[tag] for text, tag in tags.items()}
        self.keep(EarlierTraining(0, name, by_text, tags=tags))

    def keep(self, new: EarlierTraining) -> None:
        """This one is the newest; it gets the next number, before its name, if it has none yet."""
        if not new.number:
            new.number = self.number
            new.name = f"{self.number} · {new.name}" if new.name else str(self.number)
            self.number += 1
        self._kept = [new, *self._kept[: KEPT - 1]]

    def rename(self, name_of: Callable[[str], str]) -> None:
        """Operations are called otherwise now."""
        for kept in self._kept:
            kept.rename(name_of)

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
        return [points for _, points in self._shown(text)]

    def points_beside(self, curve: Curve) -> list[AnyPoints]:
        """Those that are to be shown with a curve, but its own."""
        return [points for _, points in self.beside(curve)]

    def beside(self, curve: Curve) -> list[tuple[EarlierTraining, AnyPoints]]:
        """The same, each with whose they are."""
        return [each for each in self._shown(curve.text) if each[1] is not curve.points]

    def _shown(self, text: str) -> list[tuple[EarlierTraining, AnyPoints]]:
        found = ((kept, kept.points_of(text)) for kept in self if kept.shown)
        return [(kept, points) for kept, points in found if points is not None]


def short_text(text: str) -> str:
    """The expression of a tensor as event files name it: `x["loss"]` for `x["loss:0"]`."""
    return text.replace(':0"]', '"]')
