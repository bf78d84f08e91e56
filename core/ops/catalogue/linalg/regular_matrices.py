"""Regular and singular matrices: telling them apart, and drawing regular ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError


def regular(xp: Any, compute: Callable[[], Any], matrix: Any, message: str, nan_too: bool) -> Any:
    """The result of `compute`; fails with `message` where the matrix is singular.

    NumPy says so, except of NaN; CuPy gives infinities or NaN, for which one look is enough.
    """
    try:
        result = compute()
    except np.linalg.LinAlgError:
        raise _singular(message) from None
    if xp.all(xp.isfinite(result)).item():
        return result
    wrong = xp.any(xp.linalg.slogdet(matrix)[0] == 0)
    if nan_too:
        wrong = wrong | xp.any(xp.isnan(matrix))
    if wrong.item():
        raise _singular(message)
    return result


def _singular(message: str) -> GradstepError:
    return GradstepError(
        message, hint="some rows depend on others; adding a multiple of the unit matrix helps"
    )


def well_conditioned(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random matrices that are far from singular."""
    return rng.uniform(-1, 1, shape) + 2.5 * np.eye(shape[-1])
