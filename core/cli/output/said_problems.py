"""What is wrong with what a command runs, said beside its answer: on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from gradstep.core.graph.problems import Problem, problem_text


def say_problems(problems: Iterable[Problem]) -> None:
    """Each in a line or two, as `gradstep check` has it."""
    for problem in problems:
        print(problem_text(problem), file=sys.stderr)
