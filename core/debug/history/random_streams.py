"""Other random numbers from a step on: the counters of a run's random operations, set elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.core.debug.history.iteration_target import view_at
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.debug.motion.debug_session import DebugSession

_PART = 40  # bits: each seed has so many blocks of every stream for itself
_MOST = 1 << 22


def seeded(session: DebugSession, seed: int) -> dict[str, np.ndarray]:
    """What the counters of all random operations become where the session stands, so that each goes
    on in the part of its stream that `seed` names; 0 is the one that runs begin in. Amid a loop,
    those of its iterations, and of loops inside. Raises GradstepError for a seed that is none, and
    where nothing is drawn."""
    if not 0 <= seed < _MOST:
        raise GradstepError(
            f"{seed} is no seed here", kind="ValueError", hint=f"a whole number below {_MOST:,}"
        )
    held = _held_counters(session)
    if not held:
        inside, hint = session.stop.inside, "give a variable or a feed another value instead"
        where = f"in the loop {inside[-1].loop}" if inside else "in this program"
        raise GradstepError(
            f"nothing {where} draws random numbers",
            kind="FailedPreconditionError",
            hint="step out of the loop, for what is drawn outside" if inside else hint,
        )
    found = {}
    for name, array in held.items():
        found[name] = counted = np.array(session.backend.get(array), np.int64)
        counted.flat[0] = (seed << _PART) + int(counted.flat[0]) % (1 << _PART)
    return found


def _held_counters(session: DebugSession) -> Mapping[str, Any]:
    """What the counters hold where the session stands."""
    timeline, ((run, step), *inside) = session.timeline, session.stop.place
    if inside:
        view = view_at(timeline, run, step, inside)
        plan, loop = view.loop.plan, view.loop
        newest = {name: plan.newest(name, view.step) for name in _counters(plan)}
        return {name: loop.held(at, view.number, view.step) for name, at in newest.items()}
    newest = {name: session.plan.newest(name, step) for name in _counters(session.plan)}
    return {name: timeline.held(run, at, step) for name, at in newest.items()}


def _counters(plan: Plan) -> list[str]:
    return [name for name, variable in plan.variables.items() if variable.counter]
