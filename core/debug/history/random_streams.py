"""Other random numbers from a step on: the counters of a run's random operations, set elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.debug.motion.debug_session import DebugSession

_PART = 40  # bits: each seed has so many blocks of every stream for itself
_MOST = 1 << 22


def seeded(session: DebugSession, seed: int) -> dict[str, np.ndarray]:
    """What the counters of all random operations become where the session stands, so that each goes
    on in the part of its stream that `seed` names; 0 is the one that runs begin in. Raises
    GradstepError for a seed that is none, and where nothing is drawn."""
    if not 0 <= seed < _MOST:
        raise GradstepError(
            f"{seed} is no seed here", kind="ValueError", hint=f"a whole number below {_MOST:,}"
        )
    plan, stop, timeline = session.plan, session.stop, session.timeline
    names = [name for name, variable in plan.variables.items() if variable.counter]
    if not names:
        raise GradstepError(
            "nothing in this program draws random numbers",
            kind="FailedPreconditionError",
            hint="give a variable or a feed another value instead",
        )
    found = {}
    for name in names:
        held = timeline.held(stop.run, plan.newest(name, stop.step), stop.step)
        found[name] = counted = np.array(session.backend.get(held), np.int64)
        counted.flat[0] = (seed << _PART) + int(counted.flat[0]) % (1 << _PART)
    return found
