"""How often to look, on the way through a run, whether one is to go on."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.engine.plan.execution_plan import Plan

_CHUNK = 64  # steps between two looks
_SHORT = 2e-3  # seconds: who asks for a pause does not notice that it comes after the run


class RunPace:
    """After each so many steps; but not in a run of a plan that took next to no time before."""

    def __init__(self) -> None:
        self._short: dict[Plan, bool] = {}

    def looks(self, plan: Plan, start: int, stop: int) -> Sequence[int]:
        """Before which steps to look, between these."""
        if stop - start <= _CHUNK or self._short.get(plan, False):
            return ()
        return range(start + _CHUNK, stop, _CHUNK)

    def note(self, plan: Plan, seconds: float) -> None:
        """A whole run took so long."""
        self._short[plan] = seconds < _SHORT
