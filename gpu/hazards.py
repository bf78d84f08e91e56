"""What could differ on a GPU, found in real CPU tensors without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.declare.table import find
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.rule_attribution import count_subnormals

Predicate = Callable[[Operation, Sequence[np.ndarray]], "str | None"]


def hazards(op: Operation, inputs: Sequence[np.ndarray | None]) -> list[str]:
    """Sentences about `op` on these inputs; empty when nothing stands out."""
    known = [x for x in inputs if x is not None]
    if not known or len(known) < len(inputs):
        return []
    found = (predicate(op, known) for predicate in _PREDICATES)
    return [f"{op.name}: {text}" for text in found if text]


def _out_of_range(op: Operation, inputs: Sequence[np.ndarray]) -> str | None:
    """An index that TensorFlow's CPU refuses, and what each profile makes of it."""
    definition = find(op.type)
    if definition is None or "rules" not in definition.kernel.keywords:
        return None
    try:
        run_op(NumpyBackend(TF_CPU), op, inputs)
        return None
    except GradstepError as error:
        refused = error.message
    results = {name: _result(op, inputs, name) for name in PROFILES}
    place = _first_difference([x for x in results.values() if x is not None])
    said = (f"{name} {_at(result, place)}" for name, result in results.items())
    where = "" if place is None else f" at {list(place)}"
    return f"{refused}; the result{where}: {', '.join(said)}"


def _result(op: Operation, inputs: Sequence[np.ndarray], profile: str) -> np.ndarray | None:
    try:
        return np.asarray(run_op(NumpyBackend(PROFILES[profile]), op, inputs)[0])
    except GradstepError:
        return None


def _first_difference(results: Sequence[np.ndarray]) -> tuple[int, ...] | None:
    """The first place where not all results agree."""
    apart = np.zeros(results[0].shape, bool) if results else np.zeros(0, bool)
    for other in results[1:]:
        apart |= results[0] != other
    places = np.argwhere(apart)
    return tuple(int(i) for i in places[0]) if len(places) else None


def _at(result: np.ndarray | None, place: tuple[int, ...] | None) -> str:
    if result is None:
        return "fails"
    return "has one" if place is None else f"{result[place]:.6g}"


def _duplicates(op: Operation, inputs: Sequence[np.ndarray]) -> str | None:
    if op.type not in ("UnsortedSegmentSum", "ScatterNd"):
        return None
    by_row = op.type == "ScatterNd"
    rows, values = (inputs[0], inputs[1]) if by_row else (inputs[1], inputs[0])
    flat = rows.reshape(-1, rows.shape[-1]) if by_row else rows.reshape(-1, 1)
    repeated = len(flat) - len(np.unique(flat, axis=0))
    if not repeated or kind_of(values.dtype) not in "fc":
        return None
    return (
        f"{repeated} of {len(flat)} rows go to a target that others go to; a GPU adds them in "
        "no fixed order, so the last bits may change from run to run"
    )


def _subnormals(op: Operation, inputs: Sequence[np.ndarray]) -> str | None:
    definition = find(op.type)
    if definition is None or definition.arithmetic == "exact":
        return None
    count = sum(map(count_subnormals, inputs))
    return f"{count} subnormal input{'s' * (count > 1)}: a GPU takes them for 0" if count else None


def _cast(op: Operation, inputs: Sequence[np.ndarray]) -> str | None:
    if op.type != "Cast" or kind_of(inputs[0].dtype) != "f":
        return None
    target = DType(op.attrs["DstT"]).numpy
    if target.kind not in "iu":
        return None
    limits, x = np.iinfo(target), np.trunc(inputs[0].astype(np.float64))
    bad = np.count_nonzero(~((x >= limits.min) & (x <= limits.max)))
    if not bad:
        return None
    them = "1 value does" if bad == 1 else f"{bad} values do"
    return f"{them} not fit {target}: x86 wraps or gives the minimum, a GPU saturates"


def _division(op: Operation, inputs: Sequence[np.ndarray]) -> str | None:
    if op.type not in ("FloorDiv", "FloorMod") or kind_of(inputs[0].dtype) not in "iu":
        return None
    if (inputs[1] != 0).all():
        return None
    return "integer division by zero: TensorFlow's CPU fails, XLA gives -1, CuPy 0"


def _ties(op: Operation, inputs: Sequence[np.ndarray]) -> str | None:
    if op.type != "ArgMax":
        return None
    x, axis = inputs[0], int(inputs[1])
    with np.errstate(invalid="ignore"):
        winners = np.count_nonzero(x == np.max(x, axis=axis, keepdims=True), axis=axis)
    tied = int(np.count_nonzero(winners > 1))
    if not tied:
        return None
    return f"{tied} of {winners.size} maxima are tied; which position wins may differ on a GPU"


_PREDICATES: tuple[Predicate, ...] = (
    _out_of_range,
    _duplicates,
    _subnormals,
    _cast,
    _division,
    _ties,
)
