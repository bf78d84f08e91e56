"""Starting a debug session, and finding again the place where another one stood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.debug.changes import repeat
from core.debug.program import Program
from core.debug.session import DebugSession
from core.debug.sessions import FIRST, Sessions
from core.debug.stop import Stop
from core.debug.threads import Threads
from core.engine.backend import Backend
from core.errors import GradstepError
from core.graph.problems import Problem


def begin(
    program: Program,
    backend: Backend,
    limit_bytes: int = 2 << 30,
    before: Threads | None = None,
) -> Threads:
    """The program's threads before run 0, which keep so many bytes of recorded runs, and take over
    what they can from `before`. When the program's `init` fails, it starts without, and that is
    among its problems."""
    try:
        return Threads(program, backend, limit_bytes, before)
    except GradstepError as error:
        if not program.init:
            raise
        problems = (*program.problems, Problem.of(error, "init"))
        program = replace(program, init="", problems=problems)
        return Threads(program, backend, limit_bytes, before)


def begin_all(make: Callable[[Threads | None], Threads], before: Sessions | None) -> Sessions:
    """A session of a program before run 0; after an edit one for each of those before it. make:
    `begin` but for its last argument."""
    if before is None:
        return Sessions({FIRST: make(None)})
    return Sessions({n: make(old) for n, old in before.by_name.items()}, before.current)


def go_back_to_all(sessions: Sessions, before: Sessions) -> None:
    """Run each to where the one of the same name stood."""
    for name, threads in sessions.by_name.items():
        go_back_to(threads, before[name])


def go_back_to(threads: Threads, before: Threads) -> None:
    """Run to where `before` stood. Where several threads share queues, it takes all the commands
    again that led there."""
    if len(threads.states) > 1:
        threads.repeat(before.history)
    else:
        _go_back_to(threads, before.session)


def _go_back_to(threads: Threads, before: DebugSession) -> None:
    """To the same run, before the same operation; its end, if `before` stood there; after as many
    steps, if the operation is gone; the first run that is kept, if that one is not any more. On the
    way variables are given what they were given there."""
    session = threads.session
    for change in before.changes:
        repeat(change, session)
    there = before.stop
    length = len(session.plan.steps)
    if there.step == len(before.plan.steps):
        step = length
    else:
        op = before.plan.steps[there.step].op.name
        step = session.plan.step_of.get(op, min(there.step, length))
    inside = _inside(there, session, step)
    if length and (inside or (there.run, step) != (0, 0)):
        first = session.timeline.first
        threads.command("run_to", f"{max(there.run, first)}:{step}{inside}")


def _inside(there: Stop, session: DebugSession, step: int) -> str:
    """The place in the loop that is step number `step` of `session`, too."""
    loop = session.plan.steps[step].op if step < len(session.plan.steps) else None
    if not there.inside or loop is None or loop.name != there.inside[0].loop:
        return ""
    return "".join(f"/{place.iteration}:{place.step}" for place in there.inside)
