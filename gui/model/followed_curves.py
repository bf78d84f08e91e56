"""The curves of a training that is followed: its loss, and of each layer two norms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradstep.core.capture.training_lines import TrainedStep
from gradstep.core.debug.breaks.layer_curves import Family
from gradstep.core.debug.breaks.missing_number import NOT_THERE
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.curve_points import MOST as STEPS
from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.sampled_points import SampledPoints
from gradstep.gui.model.training_curve import Curve

_LOSS = 'x["loss"]'
_LAYERS: Mapping[Family, tuple[str, str, Tone]] = {
    "gradient": ('norm(grad["{}"])', "‖∂ {}‖", "backward"),
    "weight": ('norm(x["{}"])', "‖{}‖", "update"),
}
MOST = 400  # curves: a training that names ever new layers fills no memory


class FollowedCurves:
    """Made as the training names them. Its steps are counted from 1, those of curves from 0."""

    def __init__(self) -> None:
        self._by_text: dict[str, Curve] = {}
        self._dropped: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_text)

    @property
    def drawn(self) -> list[Curve]:
        """All that were not dropped: the loss, gradients, weights, in the model's order."""
        return [curve for text, curve in self._by_text.items() if text not in self._dropped]

    def drop(self, curve: Curve) -> None:
        """Draw it no longer, whatever comes of it."""
        self._dropped.add(curve.text)

    def take(self, steps: Sequence[TrainedStep]) -> None:
        """Steps that follow on those before, in ascending order."""
        first = max(steps[0].step, steps[-1].step - STEPS)  # a curve keeps no more
        losses = np.full(steps[-1].step - first + 1, NOT_THERE)
        told = [line for line in steps if line.step >= first]
        losses[[line.step - first for line in told]] = [line.loss for line in told]
        points = self._curve(_LOSS, "loss", "value", "forward").points
        assert isinstance(points, Points)
        points.put(first - 1, losses)
        self._take_layers("gradient", [(line.step - 1, line.gradient) for line in steps])
        self._take_layers("weight", [(line.step - 1, line.weight) for line in steps])

    def _take_layers(self, family: Family, rows: Sequence[tuple[int, Mapping[str, float]]]) -> None:
        columns: dict[str, list[tuple[int, float]]] = {}
        for step, norms in rows:
            for layer, norm in norms.items():
                columns.setdefault(layer, []).append((step, norm))
        words, title, tone = _LAYERS[family]
        for layer, column in columns.items():
            text = words.format(layer)
            if text in self._by_text or len(self) < MOST:
                points = self._curve(text, title.format(layer), family, tone).points
                assert isinstance(points, SampledPoints)
                points.put(np.array([at for at, _ in column]), np.array([x for _, x in column]))

    def _curve(self, text: str, title: str, family: Family, tone: Tone) -> Curve:
        found = self._by_text.get(text)
        if found is None:
            found = self._by_text[text] = Curve(text, title, "", tone, family)
        return found
