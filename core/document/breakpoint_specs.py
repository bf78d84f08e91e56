"""Breakpoints as messages have them, and back."""

from __future__ import annotations

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.errors import GradstepError
from gradstep.core.protocol.message_parts import BreakpointSpec


def spec_of(b: Breakpoint) -> BreakpointSpec:
    return BreakpointSpec(
        target=b.target,
        kind=b.kind.value,
        condition=b.condition,
        hits=b.hits,
        exempt=sorted(b.exempt),
        enabled=b.enabled,
        log=b.log,
    )


def breakpoint_of(spec: BreakpointSpec) -> Breakpoint:
    """Raises GradstepError for a kind that there is not."""
    try:
        kind = BreakpointKind(spec.kind)
    except ValueError:
        raise GradstepError(
            f"there are no breakpoints of kind '{spec.kind}'", kind="ValueError"
        ) from None
    exempt = frozenset(spec.exempt)
    return Breakpoint(spec.target, kind, spec.condition, spec.hits, exempt, spec.enabled, spec.log)
