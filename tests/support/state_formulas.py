"""What formulas of the ops that update variables need: rows one by one, and two optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np


def row_by_row(rule: str, target: Any, indices: Any, updates: Any) -> Any:
    """`target` with each of its rows that an index names made new by `rule`, in turn."""
    result = np.array(target)
    every = np.broadcast_to(updates, (*indices.shape, *result.shape[1:]))
    for place in np.ndindex(indices.shape):
        result[indices[place]] = _new(rule, result[indices[place]], every[place])
    return result


def point_by_point(rule: str, target: Any, indices: Any, updates: Any) -> Any:
    """The same where an index is a vector that names a slice or an element."""
    result = np.array(target)
    for place in np.ndindex(indices.shape[:-1]):
        at = tuple(indices[place])
        result[at] = _new(rule, result[at], updates[place])
    return result


def replaced(target: Any, rows: Any, new: Any) -> Any:
    result = np.array(target)
    result[rows] = new
    return result


def shrunk(x: Any, by: Any) -> Any:
    return np.sign(x) * np.maximum(np.abs(x) - by, 0)


def ftrl(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    multiply_linear_by_lr: bool,
) -> Any:
    """McMahan et al., "Ad click prediction" (2013), algorithm 1; `linear` may be lr times that."""
    total = accum + grad**2
    sigma = (total**-lr_power - accum**-lr_power) / lr
    z = linear / (lr if multiply_linear_by_lr else 1) + grad + 2 * l2_shrinkage * var - sigma * var
    return np.where(np.abs(z) > l1, -shrunk(z, l1) / (total**-lr_power / lr + 2 * l2), 0)


def _new(rule: str, old: Any, new: Any) -> Any:
    known = {"minimum": np.minimum, "maximum": np.maximum, "old": old, "new": new}
    return eval(rule, {"__builtins__": {}}, known)


NAMES = {name: f for name, f in list(globals().items()) if callable(f) and name.islower()}
