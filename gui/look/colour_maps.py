"""Numbers as colours: maps that hold in both themes and for every kind of eye.

What no colour of a map can say has one of its own: NaN, infinities and, in heat maps, exact zeros.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PySide6.QtGui import QColor

from gradstep.core.host.tensors.aggregate import INF, NAN, NEGATIVE_INF, ZERO
from gradstep.gui.look import heat_colours
from gradstep.gui.look.theme import Theme

MapName = Literal["diverging", "viridis", "cividis", "grey"]
RangeName = Literal["unit", "byte", "all"]
MAPS: dict[MapName, str] = {
    "diverging": "Blue to orange",
    "viridis": "Viridis",
    "cividis": "Cividis",
    "grey": "Grey",
}
RANGES: dict[RangeName, str] = {"unit": "0 to 1", "byte": "0 to 255", "all": "Least to largest"}
_STEPS = 256
Array = np.ndarray[Any, Any]
Range = tuple[float, float]


def suited_map(least: float, image: bool) -> MapName:
    """Grey for images; about zero where there is something on both of its sides."""
    return "grey" if image else "diverging" if least < 0 else "viridis"


def map_range(name: MapName, least: float, most: float) -> Range:
    """What the ends of a map stand for; zero is the middle of the diverging one."""
    if name == "diverging":
        largest = max(abs(least), abs(most))
        return -largest, largest
    return least, most


def shades(name: MapName, theme: Theme) -> Array:
    """uint8[256, 3]: the colours of a map, from its lower end."""
    if name == "grey":
        return np.repeat(np.arange(_STEPS, dtype=np.uint8)[:, np.newaxis], 3, axis=1)
    return _diverging(theme) if name == "diverging" else _from_pyqtgraph(name)


@cache
def _from_pyqtgraph(name: str) -> Array:
    """Read from its file: the package takes a blink to load, which the first picture need not."""
    package = find_spec("pyqtgraph")
    assert package is not None
    assert package.submodule_search_locations is not None
    folder = Path(package.submodule_search_locations[0]) / "colors" / "maps"
    table: Array = np.loadtxt(folder / f"{name}.csv", delimiter=",", comments=";")
    return (table * 255).round().astype(np.uint8)


@cache
def _diverging(theme: Theme) -> Array:
    """From a value's blue to a gradient's orange, as in heat tiles."""
    ends = (i / 127.5 - 1 for i in range(_STEPS))
    return np.array([_rgb(heat_colours.color(theme, end, 1.0)) for end in ends], np.uint8)


def special_color(theme: Theme, kind: int) -> QColor:
    """Of cells that are no number, or exactly zero: none of them is a colour of a map. Infinities
    are told apart by the arrows that are drawn where there is room."""
    return theme.problem if kind == NAN else theme.text if kind != ZERO else theme.background


def colourise(
    values: Array, kinds: Array, name: MapName, span: Range, theme: Theme, zeros: bool
) -> Array:
    """uint8[…, 4], RGBA, of numbers and of what is to be said beside them. zeros: whether they
    have a colour of their own."""
    low, high = span
    width = high / 2 - low / 2  # halves: the range of huge numbers overflows
    with np.errstate(invalid="ignore", over="ignore"):
        share = (values / 2 - low / 2) / width if width > 0 else np.full(values.shape, 0.5)
    steps = np.nan_to_num(np.clip(share, 0, 1) * (_STEPS - 1)).astype(np.intp)
    pixels = np.full((*values.shape, 4), 255, np.uint8)
    pixels[..., :3] = shades(name, theme)[steps]
    for kind in (NAN, INF, NEGATIVE_INF, *((ZERO,) if zeros else ())):
        pixels[kinds == kind, :3] = _rgb(special_color(theme, kind))
    return pixels


def colour_channels(values: Array, kinds: Array, span: Range, theme: Theme) -> Array:
    """uint8[…, 4] of pixels with three or four channels; one that is no number in any of them has
    the colour of that."""
    low, high = span
    width = high / 2 - low / 2
    with np.errstate(invalid="ignore", over="ignore"):
        share = (values / 2 - low / 2) / width if width > 0 else np.full(values.shape, 0.5)
    pixels = np.full((*values.shape[:-1], 4), 255, np.uint8)
    pixels[..., : values.shape[-1]] = np.nan_to_num(np.clip(share, 0, 1) * 255).round()
    for kind in (NEGATIVE_INF, INF, NAN):
        pixels[(kinds == kind).any(-1)] = (*_rgb(special_color(theme, kind)), 255)
    return pixels


def image_range(dtype: str, least: float, most: float, chosen: RangeName | Literal[""]) -> Range:
    """What black and white stand for in an image: 0 and 255 of bytes, 0 and 1 where all lies there;
    else the least and the largest element. chosen: by the user; "": what suits it."""
    unit = least >= 0 and most <= 1
    name = chosen or ("byte" if dtype == "uint8" else "unit" if unit else "all")
    return {"byte": (0.0, 255.0), "unit": (0.0, 1.0), "all": (least, most)}[name]


def _rgb(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()
