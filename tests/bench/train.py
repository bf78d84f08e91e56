"""The group `train`: a step of `gradstep train` on batches, and the way to a step of a long
training; as it is installed, and where plans are calls of NumPy's functions alone."""

from __future__ import annotations

from tests.bench.asking import NoAnswerError, ask, rows_of, rows_without
from tests.bench.choices import Choices, say
from tests.bench.contestant import environment
from tests.bench.rows import Row
from tests.bench.targets import PYTHON, TRAINING


def rows(choices: Choices) -> list[Row]:
    say("training on batches")
    asked = ("feeding", choices.rounds, choices.seconds)
    try:
        found = dict(ask(*asked, environment=environment()))
        without = ask(*asked, environment=environment(GRADSTEP_NATIVE="0"))
    except NoAnswerError as error:
        return rows_without(TRAINING, str(error))
    found |= {f"{PYTHON} {key}": values for key, values in without.items()}
    return rows_of(TRAINING, found)
