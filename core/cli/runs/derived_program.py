"""The program of a document, for verbs that run all of it."""

from __future__ import annotations

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.errors import GradstepError
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.program_errors import find_errors


def sound_program(loaded: Loaded) -> Program:
    """What the debugger would run. Raises GradstepError for the first thing that is wrong with it,
    and not with operations that it does without."""
    program = derive(loaded.document, loaded.functions)
    for problem in find_errors(program):
        raise GradstepError(
            problem.text, kind="ValueError", node=problem.node or None, hint=problem.fix
        )
    return program
