"""docs/benchmarks-window.md: what actions in the window cost by the size of the graph, with a
picture, their targets, and the reasons for those that are missed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.bench.environments import ROOT
from tests.bench.growth_figure import exponent_of, figure
from tests.bench.machine import description

PAGE = ROOT / "docs/benchmarks-window.md"
PICTURE = ROOT / "docs/images/benchmarks-window.svg"
# What the picture shows, in colours that are apart for colour-blind eyes too.
LINES: Mapping[str, str] = {
    "open: first picture": "#0072b2",
    "edit: stop": "#cc79a7",
    "undo: stop": "#7f3c8d",
    "edit: rename": "#d55e00",
    "edit: wire unplugged": "#e69f00",
    "look: select": "#009e73",
    "look: search key": "#66a61e",
    "step: F10": "#666666",
}
# Why an action takes longer than its target; each was found with --profile.
NOTES: Mapping[str, str] = {}
Costs = Mapping[int, Mapping[str, Mapping[str, float]]]  # size -> action -> seconds
Target = Callable[[str, int], float | None]  # of an action at a size

_HEAD = """\
# Benchmarks of the window

Written by `./dev bench window open --sizes {sizes} --write`; do not edit.

CPU time of the window's thread and of the engine together, from what the user does until all of it
is painted, on one training graph that came as a `.pb`: variables in scopes, one constant that all
layers read, a group of all initial assignments, gradients of every variable, Adam's updates, all
scopes open, in the program's own window with its panels, off screen and without a graphics card.
Milliseconds, medians of three rounds; what is over its target is **bold**, with the target behind
it.
"""


def write(found: Costs, target: Target, deaf_target: Target) -> None:
    """The page and its picture."""
    both = {
        size: {action: each["window"] + each["engine"] for action, each in costs.items()}
        for size, costs in found.items()
    }
    deaf = {
        size: {action: each["deaf"] for action, each in costs.items()}
        for size, costs in found.items()
    }
    PICTURE.write_text(figure({"training": both}, LINES))
    parts = [
        _HEAD.format(sizes=",".join(map(str, found))),
        f"![Cost against size](images/{PICTURE.name})\n",
        "Behind a name stands the exponent with which its cost grows with the graph.\n",
        _table(both, target),
        "## How long the window is deaf at most\n",
        _table(deaf, deaf_target),
        _missed(both, target),
        "\n".join(["## Measured on\n", *(f"- {line}" for line in description()), ""]),
    ]
    PAGE.write_text("\n".join(filter(None, parts)))


def _table(seconds: Mapping[int, Mapping[str, float]], target: Target) -> str:
    sizes = sorted(seconds)
    lines = ["| operations | " + " | ".join(f"{size:,}" for size in sizes) + " | exponent |"]
    lines.append("|-|" + "-|" * (len(sizes) + 1))
    for action in seconds[sizes[0]]:
        cells = [_cell(seconds[size][action], target(action, size)) for size in sizes]
        grows = exponent_of({size: seconds[size][action] for size in sizes})
        cells.append("" if grows is None else f"{grows:.2f}")
        lines.append(f"| {action} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _cell(seconds: float, target: float | None) -> str:
    text = f"{1000 * seconds:.3g}" if seconds < 1 else f"{1000 * seconds:,.0f}"
    if target is None or seconds <= target:
        return text
    return f"**{text}** ({1000 * target:,.0f})"


def _missed(seconds: Mapping[int, Mapping[str, float]], target: Target) -> str:
    over = dict.fromkeys(
        action
        for size, costs in seconds.items()
        for action, found in costs.items()
        if found > (target(action, size) or found)
    )
    lines = [f"- {action}: {NOTES[action]}" for action in over if action in NOTES]
    return "\n".join(["## Missed\n", *lines, ""]) if lines else ""
