"""The group `engine`: the workloads, and what compiling costs."""

from __future__ import annotations

from tests.bench import racing
from tests.bench.asking import NoAnswerError, ask, rows_of, rows_without
from tests.bench.choices import Choices, say
from tests.bench.contestant import environment
from tests.bench.racing import Races
from tests.bench.rows import Row
from tests.bench.targets import COMPILING


def rows(choices: Choices) -> tuple[list[Row], Races]:
    """The rows, and the races that most of them are about."""
    found = racing.races(choices)
    compiling = [] if choices.only else _compiling(choices)
    return racing.rows(found) + compiling, found


def _compiling(choices: Choices) -> list[Row]:
    say("differentiate and compile")
    repeats, budget = (1, 15.0) if choices.quick else (choices.repeats, 300.0)
    try:
        values = ask("compiling", repeats, budget, environment=environment())
    except NoAnswerError as error:
        return rows_without(COMPILING, str(error))
    late = [t for t in COMPILING if t.key not in values]
    why = f"none of it could begin in {budget:.0f} s"
    return [
        *rows_of(COMPILING, values),
        *(Row(t.name, t.target, t.unit, None, why) for t in late),
    ]
