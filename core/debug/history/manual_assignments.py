"""Giving variables other values between two steps, by hand or from another session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.variable_map import require_fitting, variables
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, unknown_name

if TYPE_CHECKING:
    from gradstep.core.debug.motion.debug_session import DebugSession


@dataclass(frozen=True, eq=False)
class Assignment:
    """What the variables were given, where: in which run, after how many steps and before which
    operation ("" at the end of the run)."""

    run: int
    step: int
    op: str
    values: Mapping[str, np.ndarray]


def assign(sessions: Sequence[DebugSession], values: Mapping[str, np.ndarray]) -> None:
    """Give variables other values where the sessions stand, all or none. sessions: the threads of
    one session; each takes what it has to do with.

    Raises GradstepError for what is no variable or does not fit it, and where steps after this
    one have been executed: they would not follow from what was before them any more."""
    there = variables(sessions[0].program.graph)
    parts: dict[DebugSession, dict[str, np.ndarray]] = {}
    for name, value in values.items():
        if name not in there:
            raise unknown_name(name, there)
        require_fitting(there[name], value)
        parts.setdefault(concerned(sessions, there[name]), {})[name] = value
    for session in parts:
        _require_newest(session)
    for session, part in parts.items():
        stop, put = session.stop, session.backend.put
        session.timeline.assign({storage_name(there[n]): put(v) for n, v in part.items()})
        session.timeline.changes.append(Assignment(stop.run, stop.step, stop.op, part))


def concerned(sessions: Sequence[DebugSession], variable: Operation) -> DebugSession:
    """The first of the threads whose program has to do with a variable."""
    name = storage_name(variable)
    return next((s for s in sessions if name in s.plan.versions), sessions[0])


def repeat(change: Assignment, session: DebugSession) -> bool:
    """Make the change in a session of the program after an edit, in its place; false where it was
    paused on the way there."""
    length = len(session.plan.steps)
    step = session.plan.step_of.get(change.op, length) if change.op else length
    if session.run_to(f"{change.run}:{step}").reason is Reason.PAUSE:
        return False
    assign([session], fitting(session.program.graph, change.values))
    return True


def fitting(graph: Graph, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of `values` whose variables are there and can hold them."""
    there = variables(graph)
    return {n: value for n, value in values.items() if n in there and _fits(there[n], value)}


def _require_newest(session: DebugSession) -> None:
    timeline, stop = session.timeline, session.stop
    if stop.inside:
        raise GradstepError(
            f"the session stands in a loop: {stop.inside[-1].text}",
            kind="FailedPreconditionError",
            hint="step out of the loop, or restart and do it before the loop begins",
        )
    if (stop.run, stop.step) != (timeline.runs - 1, timeline.done(timeline.runs - 1)):
        raise GradstepError(
            f"run {stop.run}, step {stop.step} is in the past: what follows from it has been "
            "executed already",
            kind="FailedPreconditionError",
            hint="continue to the newest step, or duplicate the session: the copy goes on here",
        )


def _fits(variable: Operation, value: np.ndarray) -> bool:
    try:
        require_fitting(variable, value)
    except GradstepError:
        return False
    return True
