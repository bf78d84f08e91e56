"""The program of a document, for verbs that run all of it."""

from __future__ import annotations

from core.cli.loading import Loaded
from core.debug.program import Program
from core.errors import GradstepError
from core.host.derive import derive


def sound_program(loaded: Loaded) -> Program:
    """What the debugger would run. Raises GradstepError for the first thing that is wrong."""
    program = derive(loaded.document, loaded.functions)
    for problem in program.problems:
        if problem.severity == "error":
            raise GradstepError(
                problem.text, kind="ValueError", node=problem.node or None, hint=problem.fix
            )
    return program
