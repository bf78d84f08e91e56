"""Where functions have no finite value: conditions on their operands, for op declarations.

Each is under the name of what is wrong there (core/checks/why/cause_table.py has the words).

A condition is tried in order, on the operands of an element that has come out NaN or infinite; of
an op whose elements depend on whole arrays, on these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Breaks = Mapping[str, Callable[..., Any]]

LOG: Breaks = {"log_of_zero": lambda x: x == 0, "log_of_negative": lambda x: x < 0}
LOG1P: Breaks = {"log_of_zero": lambda x: x == -1, "log_of_negative": lambda x: x < -1}
ROOT: Breaks = {"root_of_negative": lambda x: x < 0}
ROOT_SLOPE: Breaks = {"root_at_zero": lambda y, dy: y == 0}
INVERSE: Breaks = {"division_by_zero": lambda x: x == 0}
INVERSE_ROOT: Breaks = {**INVERSE, **ROOT}
QUOTIENT: Breaks = {
    "zero_over_zero": lambda x, y: (x == 0) & (y == 0),
    "division_by_zero": lambda x, y: y == 0,
    "infinity_over_infinity": lambda x, y: np.isinf(x) & np.isinf(y),
}
REMAINDER: Breaks = {"division_by_zero": lambda x, y: y == 0}
POWER: Breaks = {
    "zero_to_negative_power": lambda x, y: (x == 0) & (y < 0),
    "negative_to_fraction": lambda x, y: (x < 0) & np.isfinite(y) & (y != np.rint(y)),
}
SUM: Breaks = {"infinity_minus_infinity": lambda x, y: np.isinf(x) & np.isinf(y)}
PRODUCT: Breaks = {
    "zero_times_infinity": lambda x, y: (np.isinf(x) & (y == 0)) | (np.isinf(y) & (x == 0))
}
TERMS: Breaks = {
    "empty": lambda x, *rest: x.size == 0,
    "infinity_minus_infinity": lambda *terms: any(np.isinf(x).any() for x in terms),
}
BETWEEN_ONES: Breaks = {"outside_domain": lambda x: np.abs(x) > 1}
FROM_ONE: Breaks = {"outside_domain": lambda x: x < 1}
BEYOND_ONES: Breaks = {"at_pole": lambda x: np.abs(x) == 1, **BETWEEN_ONES}
SHARE: Breaks = {
    "at_pole": lambda x: (x == 0) | (x == 1),
    "outside_domain": lambda x: (x < 0) | (x > 1),
}
GAMMA: Breaks = {"at_pole": lambda x: (x <= 0) & (x == np.floor(x))}
