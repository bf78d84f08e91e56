"""Which curves share a plot: those that are of one kind, and in small multiples of one scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradstep.core.debug.breaks.layer_curves import LEARNING
from gradstep.gui.model.training_curve import Curve

LEAST_HEIGHT, LEAST_WIDTH = 120, 200  # pixels of a plot
_SMALL = 96  # of one among so many that they are scrolled

# What is said over a plot, in the order of plots; "" for what its curves say themselves.
TITLES: Mapping[str, str] = {
    "value": "",
    "gradient": "gradient norm",
    "ratio": "update / weight",
    "update": "variables",
    "weight": "weight norm",
    "dead": "share of dead units",
    "saturated": "share of saturated units",
    "size": "largest |value|",
    "rate": "learning rate",
}
MARKS: Mapping[str, float] = {"ratio": LEARNING}  # a number with a line across
LOGARITHMIC = frozenset({"ratio"})  # whatever the others are
SHARES = frozenset({"dead", "saturated"})  # from 0 to 1, and never logarithmic
_BY_TONE = {"backward": "gradient", "update": "update"}


class PlotKey(NamedTuple):
    """group: a key of TITLES; scope: the first part of a name, where plots are split by it."""

    group: str
    scope: str = ""


def group_of(curve: Curve) -> str:
    """A key of TITLES; of what only event files have, one of its own."""
    if curve.tag:
        return f"tag {curve.tag}"
    return _BY_TONE.get(curve.tone, "value") if curve.family == "value" else curve.family


def group_curves(curves: Sequence[Curve], split: bool) -> dict[PlotKey, list[Curve]]:
    """The curves of each plot. split: by scope, too."""
    found: dict[PlotKey, list[Curve]] = {}
    for group in TITLES:
        for curve in curves:
            if group_of(curve) == group:
                key = PlotKey(group, scope_of(curve.op) if split else "")
                found.setdefault(key, []).append(curve)
    lone = {PlotKey(group_of(curve)): [curve] for curve in curves if curve.tag}
    return found | lone


def scope_of(op: str) -> str:
    """The part of a name before its first "/", or all of it."""
    return op.partition("/")[0]


def places(keys: Sequence[PlotKey], width: int, height: int) -> list[tuple[int, int]]:
    """Row and column of each plot: above each other as far as there is room for that, beside each
    other then, and below that again, where they would be too narrow; with scopes, a line of plots
    for each group, broken where it is too long."""
    most = max(width // LEAST_WIDTH, 1)
    if any(key.scope for key in keys):
        return [*_lines(keys, most)]
    rows = max(min(len(keys), height // LEAST_HEIGHT), 1)
    columns = min(-(-len(keys) // rows), most)
    return [divmod(number, columns) for number in range(len(keys))]


def least_height(places: Sequence[tuple[int, int]]) -> int:
    """Pixels that plots in these places need for curves to be seen; 0 for one line of them, which
    takes what there is."""
    rows = 1 + max((row for row, _ in places), default=0)
    return rows * _SMALL if rows > 1 else 0


def _lines(keys: Sequence[PlotKey], most: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    row, column = 0, 0
    for number, key in enumerate(keys):
        if number and (keys[number - 1].group != key.group or column == most):
            row, column = row + 1, 0
        found.append((row, column))
        column += 1
    return found
