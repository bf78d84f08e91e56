"""Corner cases, in which systems do not agree: which operations have them, and which inputs.

Each is a rule of `Rules` or several; what is known of each system in it is in `rule_statuses.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from gradstep.core.engine.calls.op_evaluation import refused_arrays, run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.declare.table import all_ops
from gradstep.gpu.emulation import COMPARING

Inputs = Sequence[np.ndarray]
Meets = Callable[[Operation, Inputs], int]  # how many elements (or 1) are in the corner


@dataclass(frozen=True)
class Corner:
    """what: of what it is, after a number: "divisors that are 0"."""

    name: str
    what: str
    ops: tuple[str, ...]
    met: Meets


def corners_of(type_: str) -> tuple[Corner, ...]:
    """Those that an operation of this type can meet."""
    return tuple(corner for corner in all_corners() if type_ in corner.ops)


def corners_met(op: Operation, inputs: Inputs) -> list[tuple[Corner, int]]:
    """Those that these inputs are in, and how often. Inputs that the operation takes on no system
    are in none."""
    corners = corners_of(op.type)
    if not corners or refused_arrays(op, inputs) is not None:
        return []
    with np.errstate(all="ignore"):
        found = [(corner, corner.met(op, inputs)) for corner in corners]
    return [pair for pair in found if pair[1]]


def _divisors(op: Operation, inputs: Inputs) -> int:
    if kind_of(inputs[1].dtype) not in "iu":
        return 0
    return int(np.count_nonzero(inputs[1] == 0))


def _shifts(op: Operation, inputs: Inputs) -> int:
    width = 8 * inputs[0].dtype.itemsize
    return int(np.count_nonzero((inputs[1] < 0) | (inputs[1] >= width)))


def _quotients(op: Operation, inputs: Inputs) -> int:
    x, y = inputs
    if x.dtype.kind != "f":
        return 0
    if op.type == "FloorMod":
        return int(np.count_nonzero(~np.isfinite(y) | (y == 0) | ~np.isfinite(x)))
    one, other = np.floor(x / y), np.floor_divide(x, y)
    return int(np.count_nonzero(~((one == other) | (np.isnan(one) & np.isnan(other)))))


def _without_room(op: Operation, inputs: Inputs) -> int:
    target = DType(op.attrs["DstT"]).numpy
    if kind_of(inputs[0].dtype) != "f" or target.kind not in "iu":
        return 0
    limits, x = np.iinfo(target), np.trunc(inputs[0].astype(np.float64))
    return int(np.count_nonzero(~((x >= limits.min) & (x <= limits.max))))


def _nans(op: Operation, inputs: Inputs) -> int:
    floats = (x for x in inputs if kind_of(x.dtype) == "f")
    return sum(int(np.count_nonzero(np.isnan(x))) for x in floats)


def _tied_places(op: Operation, inputs: Inputs) -> int:
    x, axis = inputs[0], int(inputs[1])
    if not x.size or x.dtype.kind == "O":
        return 0
    best = (np.max if op.type == "ArgMax" else np.min)(x, axis=axis, keepdims=True)
    return int(np.count_nonzero(np.count_nonzero(x == best, axis=axis) > 1))


def _tied_rows(op: Operation, inputs: Inputs) -> int:
    ordered = np.sort(inputs[0], axis=-1)
    return int(np.count_nonzero((ordered[..., 1:] == ordered[..., :-1]).any(axis=-1)))


def _refused(op: Operation, inputs: Inputs) -> int:
    """An index that TensorFlow's CPU refuses."""
    try:
        run_op(NumpyBackend(TF_CPU), op, inputs)
    except GradstepError:
        return 1
    return 0


def _segments(op: Operation, inputs: Inputs) -> int:
    outside = (inputs[1] < 0) | (inputs[1] >= inputs[2])
    return int(np.count_nonzero(outside))


def _classes(op: Operation, inputs: Inputs) -> int:
    return int(np.count_nonzero((inputs[0] < 0) | (inputs[0] >= inputs[1])))


def _labels(op: Operation, inputs: Inputs) -> int:
    return int(np.count_nonzero((inputs[1] < 0) | (inputs[1] >= inputs[0].shape[-1])))


def _nothing(op: Operation, inputs: Inputs) -> int:
    axes = np.atleast_1d(inputs[1])
    return int(axes.size > 0 and 0 in np.asarray(inputs[0].shape)[axes])


def count_subnormals(array: np.ndarray) -> int:
    """How many elements of a float32 array lie below the normal range, and are not 0."""
    if array.dtype != np.float32:
        return 0
    return int(np.count_nonzero((array != 0) & (np.abs(array) < np.finfo(np.float32).tiny)))


def _subnormals(op: Operation, inputs: Inputs) -> int:
    return sum(map(count_subnormals, inputs))


def _float32(op: Operation, inputs: Inputs) -> int:
    return int(any(x.dtype == np.float32 for x in inputs))


def _computing() -> tuple[str, ...]:
    """Operations that do more than to move values, and so may flush them."""
    return tuple(d.type for d in all_ops() if d.arithmetic != "exact" or d.type in COMPARING)


def _products() -> tuple[str, ...]:
    return tuple(d.type for d in all_ops() if d.arithmetic == "product")


def _ruled(scatters: bool) -> tuple[str, ...]:
    """Operations that follow the rules for indices; those that scatter add up or update."""
    ruled = (d for d in all_ops() if "rules" in d.kernel.keywords)
    others = {*SEGMENTS, *LABELLED}
    names = (d.type for d in ruled if d.type not in others)
    return tuple(name for name in names if ("Gather" in name) != scatters)


SEGMENTS = tuple(f"UnsortedSegment{name}" for name in ("Sum", "Prod", "Max", "Min"))
LABELLED = ("SparseSoftmaxCrossEntropyWithLogits",)
_DIVIDING = ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Div", "Mod")
_EXTREMES = ("Max", "Min", "Maximum", "Minimum", "Relu", "Relu6", "MaxPool", *SEGMENTS[2:])
_REDUCING = ("Max", "Min", "Sum", "Prod", "Mean")
_OUTSIDE = "index out of range"


@cache
def all_corners() -> tuple[Corner, ...]:
    """Every corner, once the operations are known."""
    return (
        Corner("gather", _OUTSIDE, _ruled(scatters=False), _refused),
        Corner("scatter", _OUTSIDE, _ruled(scatters=True), _refused),
        *_OTHERS,
        Corner("subnormals", "subnormal number", _computing(), _subnormals),
        Corner("tf32", "product of float32 factors", _products(), _float32),
    )


_OTHERS = (
    Corner("segments", "segment id out of range", SEGMENTS, _segments),
    Corner("one_hot", "class out of range", ("OneHot",), _classes),
    Corner("labels", "label out of range", LABELLED, _labels),
    Corner("no_room", "number that the type has no room for", ("Cast",), _without_room),
    Corner("divide_by_zero", "integer over 0", _DIVIDING, _divisors),
    Corner("shift_beyond", "shift beyond the width", ("LeftShift", "RightShift"), _shifts),
    Corner("float_floor", "quotient that is rounded down", ("FloorDiv", "FloorMod"), _quotients),
    Corner("nan_in_place", "NaN", ("ArgMax", "ArgMin"), _nans),
    Corner("nan_in_extremes", "NaN", _EXTREMES, _nans),
    Corner("nan_in_top_k", "NaN", ("TopKV2",), _nans),
    Corner("sign_of_nan", "NaN", ("Sign",), _nans),
    Corner("ties", "tie", ("ArgMax", "ArgMin"), _tied_places),
    Corner("ties_in_top_k", "tie", ("TopKV2",), _tied_rows),
    Corner("empty", "axis without elements", _REDUCING, _nothing),
)
