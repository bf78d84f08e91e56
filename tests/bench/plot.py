"""The table as a picture: every row's measurement relative to its target, on a log scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from tests.bench.rows import Row
from tests.bench.spread import Spread

_WIDTH, _LEFT, _RIGHT, _TOP, _LINE = 980, 470, 30, 44, 22
_MET, _MISSED, _INK, _PALE = "#0072b2", "#d55e00", "#666666", "#bbbbbb"  # for colour-blind eyes
_TICKS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def plot(rows: Sequence[Row]) -> str:
    """An SVG document. A dot is a median, its bar reaches from quartile to quartile; left of the
    line at 1 the target is met. What is beyond the scale lies on its edge."""
    shown = [row for row in rows if row.target > 0]
    height = _TOP + _LINE * len(shown) + 20
    body = [*_axis(height), *(part for i, row in enumerate(shown) for part in _row(row, i))]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="13">',
            '<rect width="100%" height="100%" fill="white"/>',
            *body,
            "</svg>\n",
        ]
    )


def place(value: float) -> float:
    """Where `value` (measured / target) lies, in pixels from the left."""
    first, last = math.log(_TICKS[0]), math.log(_TICKS[-1])
    part = (math.log(max(value, 1e-9)) - first) / (last - first)
    return _LEFT + min(max(part, 0.0), 1.0) * (_WIDTH - _LEFT - _RIGHT)


def _axis(height: int) -> Iterator[str]:
    yield _text(_LEFT, 16, "measured / target (left of 1: met)", "start")
    for tick in _TICKS:
        x, bold = place(tick), tick == 1
        color, width = (_INK, 2) if bold else (_PALE, 1)
        yield _line(x, _TOP - 6, x, height - 16, color, width)
        yield _text(x, _TOP - 12, f"{tick:g}", "middle")


def _row(row: Row, number: int) -> Iterator[str]:
    y = _TOP + _LINE * (number + 0.5)
    yield _text(_LEFT - 14, y + 4, row.name, "end")
    if row.measured is None:
        yield _text(place(1) + 8, y + 4, "not measured", "start")
    else:
        yield from _mark(row.measured, row.target, y, _MET if row.met else _MISSED)


def _mark(spread: Spread, target: float, y: float, color: str) -> Iterator[str]:
    low, middle, high = (place(x / target) for x in (spread.low, spread.median, spread.high))
    yield _line(low, y, high, y, color, 3)
    yield f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="5" fill="{color}"/>'
    if spread.median / target > _TICKS[-1]:
        yield _text(middle - 10, y + 4, f"{spread.median / target:.0f} times the target", "end")


def _line(x1: float, y1: float, x2: float, y2: float, color: str, width: int) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222222">{escape(text)}</text>'
    )
