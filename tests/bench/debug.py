"""The group `debug`: what the debugger adds to a run, and what moving through time costs."""

from __future__ import annotations

from tests.bench.asking import NoAnswerError, ask, rows_of, rows_without
from tests.bench.choices import Choices, say
from tests.bench.contestant import environment
from tests.bench.rows import Row
from tests.bench.targets import DEBUG


def rows(choices: Choices) -> list[Row]:
    say("debugger")
    try:
        found = ask("debugging", choices.rounds, choices.seconds, environment=environment())
    except NoAnswerError as error:
        return rows_without(DEBUG, str(error))
    return rows_of(DEBUG, found)
