"""The group `canvas`: frames of large graphs, and how soon the window answers. No display is used.

The sizes and targets of frames and memory are those that the project set for its canvas, in
milliseconds on a machine of two cores without a graphics card; what the window does besides has to
seem immediate. Frames are CPU time of the window's process, deaf times are of the clock. One graph
is even and flat; the other is a training graph as TensorFlow writes them, whose variables all wait
for one group and read one constant.
"""

from __future__ import annotations

import tempfile

from tests.bench.asking import NoAnswerError, ask, rows_of, rows_without
from tests.bench.choices import Choices, say
from tests.bench.rows import Row
from tests.bench.starting import without_settings
from tests.bench.targets import CANVAS, SIZES


def rows(choices: Choices) -> list[Row]:
    """The rows of each size; quickly, of the smaller one."""
    sizes = SIZES[:1] if choices.quick else SIZES
    return [row for nodes in sizes for row in _rows(nodes, choices)]


def _rows(nodes: int, choices: Choices) -> list[Row]:
    say(f"canvas, {nodes:,} nodes")
    frames, repeats = (40, 1) if choices.quick else (120, 3)
    targets = [t for t in CANVAS if t.key.endswith(f" {nodes}")]
    try:
        with tempfile.TemporaryDirectory() as home:
            off_screen = without_settings(home) | {"QT_QPA_PLATFORM": "offscreen"}
            values = {
                **ask("drawing", nodes, frames, environment=off_screen),
                **ask("reacting", nodes, repeats, environment=off_screen),
                **ask("training", nodes, repeats, environment=off_screen),
            }
    except NoAnswerError as error:
        return rows_without(targets, str(error))
    return rows_of(targets, {f"{key} {nodes}": found for key, found in values.items()})
