"""The tensors whose histograms are followed while training: which, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gradstep.core.debug.breaks.layer_curves import Trainable
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.protocol.messages import TrainingProgress
from gradstep.gui.model.histogram_points import Histogram, HistogramPoints

# Of what, as the menu says it.
KINDS = {"weights": "Histogram of each variable", "gradients": "Histogram of each gradient"}


class FollowedHistograms:
    """followed: in the order of the panel; told: those that a training under way makes."""

    def __init__(self) -> None:
        self.followed: list[Histogram] = []
        self._told: list[Histogram] = []
        self._points: list[HistogramPoints] = []  # of `_told`

    def of_kind(self, kind: str) -> list[Histogram]:
        """What is followed of a kind of KINDS."""
        return [each for each in self.followed if each.family == kind]

    def follow(self, wanted: Iterable[Histogram]) -> bool:
        """From the next step on; whether there was one that was not followed."""
        known = {each.text for each in self.followed}
        new = [each for each in wanted if each.text not in known]
        self.followed = [*self.followed, *new]
        return bool(new)

    def drop(self, kind: str) -> None:
        """Follow none of a kind any longer."""
        self.followed = [each for each in self.followed if each.family != kind]

    def drop_lost(self, graph: Graph) -> None:
        """Those whose operations are gone."""
        self.followed = [each for each in self.followed if each.op in graph]

    def begin(self) -> list[str]:
        """A training begins: what it is to make."""
        self._told = [*self.followed]
        self.note_points()
        return [each.text for each in self._told]

    def note_points(self) -> None:
        """What a training tells goes there, also while other runs are shown than it makes."""
        self._points = [each.points for each in self._told]

    def rename(self, name_of: Callable[[str], str]) -> None:
        """Operations are called otherwise now."""
        new = {each: each.renamed(name_of) for each in {*self.followed, *self._told}}
        self.followed = [new[each] for each in self.followed]
        self._told = [new[each] for each in self._told]

    def take(self, event: TrainingProgress) -> None:
        """What a training tells."""
        steps = np.frombuffer(event.spreads, np.int64)
        if not len(steps) or not self._told:
            return
        rows = np.frombuffer(event.histograms, np.float32).reshape(len(steps), len(self._told), -1)
        for number, points in enumerate(self._points):
            points.put(steps, rows[:, number])

    def clear(self) -> None:
        """Another document."""
        self.followed, self._told, self._points = [], [], []


def histograms_of(found: Trainable, kind: str) -> Sequence[Histogram]:
    """What can be followed of the layers, of a kind of KINDS."""
    if kind == "weights":
        return [Histogram(f'x["{r}"]', r.short, r.op, kind) for r in found.variables]
    return [Histogram(f'grad["{r}"]', f"∂ {r.short}", r.op, kind) for r in found.variables]


def histogram_of(ref: TensorRef) -> Histogram:
    """Of one tensor."""
    return Histogram(f'x["{ref}"]', ref.short, ref.op, "tensor")
