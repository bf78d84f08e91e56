"""Curves that only event files have: each is drawn by itself, as the newest of them has it."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.gui.model.earlier_trainings import EarlierTrainings, short_text
from gradstep.gui.model.training_curve import Curve

MOST = 24  # of so many tags


class LoneCurves:
    """The same curve for a tag each time that it is asked for."""

    def __init__(self) -> None:
        self._by_text: dict[str, Curve] = {}

    def beside(self, curves: Sequence[Curve], earlier: EarlierTrainings) -> list[Curve]:
        """The curves of tags that are none of `curves`."""
        known = {short_text(curve.text) for curve in curves}
        tags = {text: tag for each in earlier if each.shown for text, tag in each.tags.items()}
        alone = [text for text in tags if text not in known and earlier.points_of(text)]
        return [self._curve(text, tags[text], earlier) for text in alone[:MOST]]

    def _curve(self, text: str, tag: str, earlier: EarlierTrainings) -> Curve:
        curve = self._by_text.setdefault(text, Curve(text, tag, tag=tag))
        curve.points = earlier.points_of(text)[0]
        return curve
