"""The group `train`: a step of `gradstep train` on batches, what following it costs, the way to a
step of a long training, and curves that are moved; steps as it is installed, and where plans are
calls of NumPy's functions alone."""

from __future__ import annotations

import tempfile

from tests.bench.asking import NoAnswerError, ask, rows_of, rows_without
from tests.bench.choices import Choices, say
from tests.bench.contestant import environment
from tests.bench.rows import Row
from tests.bench.starting import without_settings
from tests.bench.targets import PYTHON, TRAINING

CURVES, STEPS, FRAMES = 20, 1_000_000, 120


def rows(choices: Choices) -> list[Row]:
    say("training on batches")
    asked = ("feeding", choices.rounds, choices.seconds)
    try:
        found = dict(ask(*asked, environment=environment()))
        with tempfile.TemporaryDirectory() as home:
            off_screen = without_settings(home) | {"QT_QPA_PLATFORM": "offscreen"}
            found |= ask("panning", CURVES, STEPS, FRAMES, environment=off_screen)
        without = ask(*asked, 0, environment=environment(GRADSTEP_NATIVE="0"))
    except NoAnswerError as error:
        return rows_without(TRAINING, str(error))
    found |= {f"{PYTHON} {key}": values for key, values in without.items()}
    return rows_of(TRAINING, found)
