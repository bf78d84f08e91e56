"""How cost grows with size, as a picture: a panel for each shape of graph, a line for each stage,
both axes logarithmic, so that what grows as the graph does runs beside the dashed line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

# Stage -> colour, apart for colour-blind eyes too; what is left out is a part of one of these.
STAGES: Mapping[str, str] = {
    "read pb": "#0072b2",
    "infer": "#56b4e9",
    "derive": "#d55e00",
    "compile": "#e69f00",
    "report": "#8c564b",
    "first run": "#009e73",
    "steady run": "#66a61e",
    "stop: derive": "#cc79a7",
    "stop: compile": "#7f3c8d",
    "fast run": "#666666",
}
_PANEL, _LEFT, _TOP, _HEIGHT = 250, 62, 46, 380
_GAP, _LETTER = 150, 7  # right of a panel at least; for each letter of a name there
_LETTERS = 13  # pixels between two names, at least
_INK, _PALE = "#444444", "#dddddd"
Costs = Mapping[str, Mapping[int, Mapping[str, float]]]  # shape -> size -> stage -> seconds


def figure(found: Costs, stages: Mapping[str, str] = STAGES) -> str:
    """An SVG document. Behind a stage's name stands its exponent from the first size at which it
    takes a hundredth of a second to the last. stages: what is drawn -> its colour."""
    gap = max(_GAP, _LETTER * (max(map(len, stages)) + len(" 0.00 ")))
    width = _LEFT + len(found) * (_PANEL + gap)
    scale = _Scale(
        [x for sizes in found.values() for costs in sizes.values() for x in _of(costs, stages)]
    )
    body = [
        part
        for number, (shape, sizes) in enumerate(found.items())
        for part in _panel(_LEFT + number * (_PANEL + gap), shape, sizes, scale, stages)
    ]
    size = f'width="{width}" height="{_TOP + _HEIGHT + 44}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" '
            'font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            *body,
            "</svg>\n",
        ]
    )


def exponent_of(sizes: Mapping[int, float]) -> float | None:
    """Of the growth from the first size at which it takes a hundredth of a second; None where
    there are no two such sizes."""
    long = {size: seconds for size, seconds in sizes.items() if seconds >= 0.01}
    if len(long) < 2:
        return None
    first, last = min(long), max(long)
    return math.log(long[last] / long[first]) / math.log(last / first)


class _Scale:
    """Seconds to pixels, the same in every panel."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self.low = math.floor(math.log10(max(min(seconds), 1e-5)))
        self.high = math.ceil(math.log10(max(seconds)))

    def y(self, seconds: float) -> float:
        part = (math.log10(max(seconds, 1e-5)) - self.low) / max(self.high - self.low, 1)
        return _TOP + _HEIGHT * (1 - part)


def _of(costs: Mapping[str, float], stages: Mapping[str, str]) -> Iterator[float]:
    return (costs[stage] for stage in stages if stage in costs)


def _panel(
    left: float,
    shape: str,
    sizes: Mapping[int, Mapping[str, float]],
    scale: _Scale,
    stages: Mapping[str, str],
) -> Iterator[str]:
    low, high = (math.log10(size) for size in (min(sizes), max(sizes)))

    def x(size: int) -> float:
        return left + _PANEL * (math.log10(size) - low) / max(high - low, 1e-9)

    yield _text(left, 20, f"{shape}: CPU seconds by operations", "start", _INK, weight="bold")
    for power in range(scale.low, scale.high + 1):
        y = scale.y(10.0**power)
        yield _line(left, y, left + _PANEL, y, _PALE)
        yield _text(left - 8, y + 4, f"{10.0**power:g}", "end", _INK)
    for size in sizes:
        yield _line(x(size), _TOP, x(size), _TOP + _HEIGHT, _PALE)
        yield _text(x(size), _TOP + _HEIGHT + 18, f"{size:,}", "middle", _INK)
    first, last = min(sizes), max(sizes)
    start = 2 * 10.0**scale.low
    ends = x(first), scale.y(start), x(last), scale.y(start * last / first)
    yield _line(*ends, _INK, dashes="4 4")
    names = {}
    for stage, color in stages.items():
        seconds = {size: costs[stage] for size, costs in sizes.items() if stage in costs}
        if not seconds:
            continue
        points = " ".join(f"{x(size):.1f},{scale.y(s):.1f}" for size, s in seconds.items())
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>'
        grows = exponent_of(seconds)
        names[f"{stage} {'' if grows is None else f'{grows:.2f}'}"] = (
            scale.y(seconds[max(seconds)]),
            color,
        )
    for name, y, color in _apart(names):
        yield _text(left + _PANEL + 8, y + 4, name, "start", color)


def _apart(names: Mapping[str, tuple[float, str]]) -> Iterator[tuple[str, float, str]]:
    """From the bottom up, none over another."""
    last = _TOP + _HEIGHT + _LETTERS
    for name, (y, color) in sorted(names.items(), key=lambda item: -item[1][0]):
        last = min(y, last - _LETTERS)
        yield name, last, color


def _line(x1: float, y1: float, x2: float, y2: float, color: str, dashes: str = "none") -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-dasharray="{dashes}"/>'


def _text(x: float, y: float, text: str, anchor: str, color: str, weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )
