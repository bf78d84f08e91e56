"""What is wrong with a program and does not end its runs: they do without, so it has to be said."""

from __future__ import annotations

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.typing.inference import infer_declared


def find_errors(program: Program) -> list[Problem]:
    """Its errors, as an optimizer that makes no updates; not those of operations that runs do not
    need."""
    errors = [problem for problem in program.problems if problem.severity == "error"]
    if not errors:
        return []  # nearly always so, and looks at no graph
    needed = program.graph.ancestors([*(ref.op for ref in program.fetches), *program.targets])
    beside = {p for p in infer_declared(program.forward).problems if p.node not in needed}
    return [problem for problem in errors if problem not in beside]
