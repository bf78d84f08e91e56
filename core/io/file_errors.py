"""Errors that were found inside of a file, said with the place."""

from __future__ import annotations

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import OverBudgetError


def inside(place: str, error: GradstepError, kind: str = "") -> GradstepError:
    """The same failure, its message led by `place`; `kind` replaces its kind, unless the file is
    merely too large."""
    if isinstance(error, OverBudgetError):
        return error.inside(place)
    return GradstepError(
        f"{place}: {error.message}",
        kind=kind or error.kind,
        node=error.node,
        index=error.index,
        hint=error.hint,
    )
