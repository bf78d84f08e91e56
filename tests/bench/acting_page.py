"""docs/benchmarks-window.md: what actions in the window cost by the size of the graph, with a
picture, their targets, and the reasons for those that are missed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.bench.environments import ROOT
from tests.bench.growth_figure import exponent_of, figure
from tests.bench.machine import measured_on

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
_FIXED = (
    "Up to 10,000 operations most of the window's part is there at 1,000, too: canvas, minimap, "
    "timeline, Inspector and actions show the edit with what the engine answers. A third of it is "
    "taking that in, a quarter painting, half of that the canvas, and an eighth is showing values "
    "that nobody had asked for before."
)
_TOUCHED = (
    "The engine's part is what hangs on a hundred layers, some thousand operations of gradients "
    "and of Adam's updates that come or go, and beyond 10,000 operations what is in order of all "
    "of them: operations, their order, calls, gradients; of each a twentieth of the edit."
)
# Why an action takes longer than its target, as --profile shows it.
NOTES: Mapping[str, str] = {
    "open: first picture": "At the limit: more than nine tenths is the engine's, which reads and "
    "types the graph. It grows more slowly than the graph does.",
    "edit: stop": f"{_FIXED} {_TOUCHED}",
    "undo: stop": _FIXED,
    "edit: override": f"{_FIXED} {_TOUCHED}",
    "undo: override": _FIXED,
    "edit: attribute": f"{_FIXED} {_TOUCHED}",
    "undo: attribute": _FIXED,
    "edit: rename": "What is derived of an operation bears its name: its gradient, what is added "
    "up there, an update. Tables and orders of all operations are copied and compared, and scene, "
    f"outline and timeline show other names in the same places. {_FIXED}",
    "undo: rename": f"Program and scene of before are there still. {_FIXED}",
    "edit: wire unplugged": "All that is behind the wire loses its types, nearly the whole graph: "
    "its boxes, links and rows are others. What is left to run is laid out and bound from "
    f"nothing. {_FIXED}",
    "undo: wire unplugged": "Program and scene of before are there still; of nearly the whole "
    f"graph boxes, links and rows are compared with those of before. {_FIXED}",
    "look: select": "Another node fills the Inspector: some fifty widgets with other texts are "
    "laid out and painted, whatever the size of the graph, at a twentieth of a millisecond each; "
    "canvas and minimap take as much.",
    "look: select by click": "As a selection by name.",
    "look: search opened": "It is the first search of the process: half of it is importing what "
    "a search is made of.",
    "look: search key": "At 1,000 operations most of it is the engine's: what it prepares for the "
    "next edit once nothing is asked. At 200,000 all names are looked through; it is at the "
    "limit, and takes 25 to 60 ms from run to run.",
    "step: F10": "At the limit, of any graph alike. A quarter is the canvas, a fifth taking in the "
    "answer, and a tenth each the timeline and the Inspector.",
    "inject: 100 dependants": "At the limit. Half of it is the window's, and two fifths of that "
    "painting anew what is in view.",
}
_CONTINUED = (
    "What is known of the document's graph goes on from before in one go, which copies tables of "
    "all operations, and so does what the engine answers; the scene is made in parts."
)
# Why the window is deaf for longer than it is to be.
DEAF_NOTES: Mapping[str, str] = {
    "open: first picture": "The outline's rows by role come in one go.",
    "open: all scopes": "The overview is painted in one go.",
    "edit: stop": _CONTINUED,
    "edit: attribute": _CONTINUED,
    "edit: rename": _CONTINUED,
    "undo: rename": _CONTINUED,
    "edit: wire unplugged": "All that is behind the wire loses its types in one go.",
    "undo: wire unplugged": "What comes back is compared with what there was in one go.",
}
Costs = Mapping[int, Mapping[str, Mapping[str, float]]]  # size -> action -> seconds
Target = Callable[[str, int], float | None]  # of an action at a size

_HEAD = """\
# Benchmarks of the window

Written by `.venv/bin/python -m tests.bench.acting open --sizes {sizes} --write`; do not
edit.

CPU time of the window's thread and of the engine together, from what the user does until all of it
is painted, on one training graph that came as a `.pb`: variables in scopes, one constant that all
layers read, a group of all initial assignments, gradients of every variable, Adam's updates, all
scopes open, in the program's own window with its panels, off screen and without a graphics card.
Milliseconds, medians of {rounds} rounds, but of a file that is opened once; what is over its target
is **bold**, with the target behind it. Giving a value by hand (inject) has in it what follows by
itself: the new run is looked through for NaN, ten milliseconds at a time between what the user
asks, and the Inspector asks why the value of the node that is shown is NaN, which gives way to
what the user asks next. With so many layers as beyond 10,000 operations this graph is full of it;
at 200,000 the way back to where it began is tens of thousands of operations long.
"""


def write(found: Costs, target: Target, deaf_target: Target, rounds: int) -> None:
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
        _HEAD.format(sizes=",".join(map(str, found)), rounds=rounds),
        f"![Cost against size](images/{PICTURE.name})\n",
        "Behind a name stands the exponent with which its cost grows with the graph.\n",
        _table(both, target),
        _missed(both, target, NOTES),
        "## How long the window is deaf at most\n",
        _table(deaf, deaf_target),
        _missed(deaf, deaf_target, DEAF_NOTES),
        measured_on(racing=False),
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


def _missed(
    seconds: Mapping[int, Mapping[str, float]], target: Target, notes: Mapping[str, str]
) -> str:
    """Why what takes longer than its target does."""
    over = dict.fromkeys(
        action
        for size, costs in seconds.items()
        for action, found in costs.items()
        if found > (target(action, size) or found)
    )
    whose: dict[str, list[str]] = {}  # reason -> the actions
    for action in over:
        if action in notes:
            whose.setdefault(notes[action], []).append(action)
    lines = [f"- {', '.join(actions)}: {why}" for why, actions in whose.items()]
    return "\n".join(["What is over its target, and why:\n", *lines, ""]) if lines else ""
