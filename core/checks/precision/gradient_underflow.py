"""Gradients that a number format has no room for, and the loss scale that makes room."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradstep.core.checks.precision.number_formats import NumberFormat
from gradstep.core.graph.model import TensorRef

_ROOM = 4.0  # how often the largest gradient may double until a scale is too large for it


@dataclass(frozen=True)
class GradientRoom:
    """Of one gradient: how large its largest element is, and the shares of its elements other than
    0 that become 0 in the format, as they are and times the proposed scale."""

    name: str
    largest: float
    lost: float
    lost_scaled: float


@dataclass(frozen=True)
class LossScale:
    """scale: a power of two to multiply the loss by, so that the largest gradient has room; 1 where
    nothing is lost without it."""

    scale: float
    gradients: tuple[GradientRoom, ...]


def find_loss_scale(values: Mapping[TensorRef, np.ndarray], format_: NumberFormat) -> LossScale:
    """values: tensor -> its gradient, in float32. Those that lose most come first."""
    finite = {ref: g for ref, g in values.items() if g.size and np.isfinite(g).all()}
    rooms = [_room(ref, g, format_, 1.0) for ref, g in finite.items()]
    if not any(room.lost for room in rooms):
        return LossScale(1.0, tuple(rooms))
    largest = max(room.largest for room in rooms)
    scale = 2.0 ** math.floor(math.log2(format_.largest / largest / 2.0**_ROOM))
    scaled = [_room(ref, g, format_, scale) for ref, g in finite.items()]
    return LossScale(scale, tuple(sorted(scaled, key=lambda room: -room.lost)))


def _room(
    ref: TensorRef, gradient: np.ndarray, format_: NumberFormat, scale: float
) -> GradientRoom:
    sizes = np.abs(np.asarray(gradient, np.float64)).reshape(-1)
    sizes = sizes[sizes > 0]
    half = format_.smallest / 2  # halves go to even, which is 0
    lost, scaled = (float(np.mean(sizes * s <= half)) if sizes.size else 0.0 for s in (1.0, scale))
    return GradientRoom(ref.short, float(sizes.max(initial=0.0)), lost, scaled)
