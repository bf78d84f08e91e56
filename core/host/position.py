"""Starting a debug session, and finding again the place where another one stood."""

from __future__ import annotations

from dataclasses import replace

from core.debug.program import Program
from core.debug.session import DebugSession
from core.engine.backend import Backend
from core.errors import GradstepError
from core.graph.problems import Problem


def begin(
    program: Program,
    backend: Backend,
    limit_bytes: int = 2 << 30,
    before: DebugSession | None = None,
) -> DebugSession:
    """A session before run 0, which keeps so many bytes of recorded runs, and takes over what it
    can from `before`. When the program's `init` fails, it starts without, and that is among its
    problems."""
    try:
        return DebugSession(program, backend, limit_bytes, before)
    except GradstepError as error:
        if not program.init:
            raise
        problems = (*program.problems, Problem.of(error, "init"))
        program = replace(program, init="", problems=problems)
        return DebugSession(program, backend, limit_bytes, before)


def go_back_to(session: DebugSession, before: DebugSession) -> None:
    """Run to where `before` stood: the same run, before the same operation; its end, if `before`
    stood there; after as many steps, if the operation is gone."""
    there = before.stop
    length = len(session.plan.steps)
    if there.step == len(before.plan.steps):
        step = length
    else:
        step = session.plan.step_of.get(there.op, min(there.step, length))
    if length and (there.run, step) != (0, 0):
        session.run_to(f"{there.run}:{step}")
