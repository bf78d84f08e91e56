"""The program of a document, for verbs that run all of it."""

from __future__ import annotations

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.errors import GradstepError
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded


def sound_program(loaded: Loaded) -> Program:
    """What the debugger would run. Raises GradstepError for the first thing that is wrong with it,
    and not with operations that it does without."""
    program = derive(loaded.document, loaded.functions)
    needed = program.graph.ancestors([*(ref.op for ref in program.fetches), *program.targets])
    beside = {p for p in infer_declared(program.forward).problems if p.node not in needed}
    for problem in program.problems:
        if problem.severity == "error" and problem not in beside:
            raise GradstepError(
                problem.text, kind="ValueError", node=problem.node or None, hint=problem.fix
            )
    return program
