"""The group `run`: what a run costs by the ways in which users make one; loops. Without native
tables: these ratios are about what surrounds a plan, which would be all of it beside 2 µs."""

from __future__ import annotations

from tests.bench.asking import NoAnswerError, ask, rows_of, rows_without
from tests.bench.choices import Choices, say
from tests.bench.contestant import environment
from tests.bench.rows import Row
from tests.bench.targets import RUNNING


def rows(choices: Choices) -> list[Row]:
    say("runs")
    try:
        found = ask(
            "running", choices.rounds, choices.seconds, environment=environment(GRADSTEP_NATIVE="0")
        )
    except NoAnswerError as error:
        return rows_without(RUNNING, str(error))
    return rows_of(RUNNING, found)
