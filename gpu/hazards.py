"""What could differ on another system, found by looking at the tensors of a run on the CPU.

Each hazard is a fact about actual numbers (this index lies outside, these values do not fit int32)
and what every emulated system makes of them, by the very rules that its column is computed by. Of
an operation in a corner in which all that is known agree, nothing is said but who is not known.
"""

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
from gradstep.core.ops.declare.table import find, lookup
from gradstep.gpu.corner_cases import Corner, corners_met
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend, flushes
from gradstep.gpu.emulation_gaps import complete
from gradstep.gpu.rule_statuses import status_of

_UNSAID = ("tf32",)  # every product is in it
_SAID_IF_OPEN = ("ties", "ties_in_top_k")  # not every NaN is worth a sentence


def hazards(op: Operation, inputs: Sequence[np.ndarray | None]) -> list[str]:
    """Sentences about `op` on these inputs; empty when nothing stands out."""
    known = complete(inputs)
    if known is None or find(op.type) is None:
        return []
    found = [_of_corner(op, known, *met) for met in corners_met(op, known)]
    return [f"{op.name}: {text}" for text in (*found, _duplicates(op, known)) if text]


def _of_corner(op: Operation, inputs: Sequence[np.ndarray], corner: Corner, count: int) -> str:
    if corner.name in _UNSAID:
        return ""
    if corner.name == "subnormals":
        return _subnormals(op, count)
    refusal, here = _here(op, inputs)
    names = [p for p in PROFILES if status_of(p, op.type, corner.name).status != "unknown"]
    results = {name: _result(EmulatedBackend(PROFILES[name]), op, inputs) for name in names}
    open_ = [name for name in PROFILES if name not in names]
    differ = [*results.values(), here]
    if _agree(differ):
        if corner.name not in _SAID_IF_OPEN or not open_:
            return ""
        return f"{_fact(op, inputs, corner, count)}; which wins is not known of {', '.join(open_)}"
    if corner.name in _SAID_IF_OPEN:
        return ""  # by another corner: NaN
    place = _first_difference([x for x in differ if x is not None])
    said = [f"cpu {_at(here, place)}"] if not refusal else []
    said += [f"{name} {_at(result, place)}" for name, result in results.items()]
    where = f" at {list(place)}" if place else ""
    unknown = f"; not known of {', '.join(open_)}" if open_ else ""
    fact = refusal or _fact(op, inputs, corner, count)
    return f"{fact}; the result{where}: {', '.join(said)}{unknown}"


def _fact(op: Operation, inputs: Sequence[np.ndarray], corner: Corner, count: int) -> str:
    if corner.name == "no_room":
        them = "1 value does" if count == 1 else f"{count} values do"
        return f"{them} not fit {DType(op.attrs['DstT']).numpy}"
    if corner.name == "ties":
        extremes = "maxima" if op.type == "ArgMax" else "minima"
        of = inputs[0].size // max(1, inputs[0].shape[int(inputs[1])])
        return f"{count} of {of} {extremes} are tied"
    return f"{count} × {corner.what}"


def _here(op: Operation, inputs: Sequence[np.ndarray]) -> tuple[str, np.ndarray | None]:
    """Why this CPU refuses, or what it gives."""
    try:
        return "", np.asarray(run_op(NumpyBackend(TF_CPU), op, inputs)[_shown(op)])
    except GradstepError as error:
        return error.message, None


def _result(
    backend: NumpyBackend, op: Operation, inputs: Sequence[np.ndarray]
) -> np.ndarray | None:
    try:
        return np.asarray(run_op(backend, op, inputs)[_shown(op)])
    except GradstepError:
        return None


def _shown(op: Operation) -> int:
    """Which result is looked at: of TopKV2 the places."""
    return 1 if op.type == "TopKV2" else 0


def _agree(results: Sequence[np.ndarray | None]) -> bool:
    """Whether all fail, or all give the same."""
    given = [x for x in results if x is not None]
    return not given or (len(given) == len(results) and _first_difference(given) is None)


def _first_difference(results: Sequence[np.ndarray]) -> tuple[int, ...] | None:
    """The first place where not all results agree."""
    apart = np.zeros(results[0].shape, bool) if results else np.zeros(0, bool)
    for other in results[1:]:
        same = results[0] == other
        if kind_of(other.dtype) == "f":
            same |= np.isnan(results[0]) & np.isnan(other)
        apart |= ~same
    places = np.argwhere(apart)
    return tuple(int(i) for i in places[0]) if len(places) else None


def _at(result: np.ndarray | None, place: tuple[int, ...] | None) -> str:
    if result is None:
        return "fails"
    if place is None and result.size != 1:
        return "has one"
    value = result.item() if place is None else result[place].item()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _subnormals(op: Operation, count: int) -> str:
    definition = lookup(op.type, op.name)
    flushing = [
        name for name, rules in PROFILES.items()
        if flushes(rules, definition)
        and status_of(name, op.type, "subnormals").status != "unknown"
    ]  # fmt: skip
    if not flushing:
        return ""
    take = "takes" if len(flushing) == 1 else "take"
    return f"{count} subnormal input{'s' * (count > 1)}: {', '.join(flushing)} {take} them for 0"


def _duplicates(op: Operation, inputs: Sequence[np.ndarray]) -> str:
    """Rows that are added to one target, of which a GPU does not keep the order."""
    parts = _ADDING.get(op.type)
    if parts is None:
        return ""
    rows, values, by_vector = parts(inputs)
    if kind_of(values.dtype) not in "fc" or not rows.size:
        return ""
    flat = rows.reshape(-1, rows.shape[-1]) if by_vector and rows.ndim else rows.reshape(-1, 1)
    different = np.unique(flat) if flat.shape[1] == 1 else np.unique(flat, axis=0)
    repeated = len(flat) - len(different)
    if not repeated:
        return ""
    return (
        f"{repeated} of {len(flat)} rows go to a target that others go to; a GPU adds them in "
        "no fixed order, so the last bits may change from run to run"
    )


Parts = Callable[[Sequence[np.ndarray]], tuple[np.ndarray, np.ndarray, bool]]
_ADDING: dict[str, Parts] = {
    "UnsortedSegmentSum": lambda x: (x[1], x[0], False),
    "ScatterNd": lambda x: (x[0], x[1], True),
    "TensorScatterAdd": lambda x: (x[1], x[2], True),
    "TensorScatterSub": lambda x: (x[1], x[2], True),
    "ScatterAdd": lambda x: (x[1], x[2], False),
    "ScatterSub": lambda x: (x[1], x[2], False),
    "ResourceScatterAdd": lambda x: (x[1], x[2], False),
    "ResourceScatterSub": lambda x: (x[1], x[2], False),
    "SparseSegmentSum": lambda x: (x[2], x[0], False),
}
