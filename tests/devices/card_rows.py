"""Corner cases that CuPy was asked on a card (tests/data/gpu), as our operations and inputs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend
from tests.card.recording import from_text
from tests.card.rule_rows import ROWS as ASKED

CARD = Path(__file__).resolve().parents[1] / "data" / "gpu" / "h200-2026-11-26.json"
AXIS, AXES, DEPTH = np.array(0, np.int32), np.array([0], np.int32), np.array(3, np.int32)
ON, OFF = np.array(1, np.float32), np.array(0, np.float32)


def _rows() -> dict[str, tuple[str, str, tuple[Any, ...]]]:
    """Name of a recorded row -> corner, our operation, and inputs after its own."""
    found: dict[str, tuple[str, str, tuple[Any, ...]]] = {}
    for kind in ("int8", "uint8", "int32", "int64"):
        found[f"{kind} // 0"] = ("divide_by_zero", "FloorDiv", ())
        found[f"{kind} % 0"] = ("divide_by_zero", "FloorMod", ())
        found[f"{kind} <<"] = ("shift_beyond", "LeftShift", ())
        found[f"{kind} >>"] = ("shift_beyond", "RightShift", ())
    for kind in ("int8", "int32", "int64"):
        found[f"{kind} 1 << -1"] = ("shift_beyond", "LeftShift", ())
    found["float //"] = ("float_floor", "FloorDiv", ())
    found["float %"] = ("float_floor", "FloorMod", ())
    for kind in ("one", "first", "all", "large"):
        for name, type_ in (("argmax", "ArgMax"), ("argmin", "ArgMin")):
            found[f"{name} nan {kind}"] = ("nan_in_place", type_, (AXIS,))
        for name, type_ in (("max", "Max"), ("min", "Min")):
            found[f"{name} nan {kind}"] = ("nan_in_extremes", type_, (AXES,))
    found["maximum nan"] = ("nan_in_extremes", "Maximum", ())
    found["minimum nan"] = ("nan_in_extremes", "Minimum", ())
    found["relu nan"] = ("nan_in_extremes", "Relu", ())
    found["sign"] = ("sign_of_nan", "Sign", ())
    found["argmax ties"] = ("ties", "ArgMax", (AXIS,))
    for name in ("max", "min", "sum", "prod", "mean"):
        found[f"{name} empty"] = ("empty", name.capitalize(), (AXES,))
    for at in (3, -1, -4):
        found[f"take {at}"] = ("gather", "GatherV2", (AXIS,))
        found[f"index {at}"] = ("gather", "GatherNd", ())
        found[f"add at {at}"] = ("scatter", "ScatterNd", (np.array([3], np.int32),))
        found[f"one_hot {at}"] = ("one_hot", "OneHot", (DEPTH, ON, OFF))
    return found


ROWS = _rows()


def is_held(row: str) -> bool:
    """Whether the profile gives, or refuses, what CuPy did; but for the sign of zero."""
    _, type_, more = ROWS[row]
    inputs = (*_inputs(row, type_), *more)
    refs = tuple(TensorRef(f"x{i}") for i in range(len(inputs)))
    said = _card()[f"rule|cupy|{row}"]
    try:
        op = Operation("y", type_, refs)
        found = run_op(EmulatedBackend(PROFILES["cupy"]), op, inputs)[0]
    except GradstepError:
        return "raised" in said
    if "raised" in said:
        return False
    wanted = from_text(said["values"][0])
    if type_ == "ScatterNd":
        found = found + ASKED[row].inputs[0]  # CuPy added to these, ours begins with 0
    return np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")


def _inputs(row: str, type_: str) -> tuple[np.ndarray, ...]:
    """As our operation takes them: an index is a vector there."""
    inputs = ASKED[row].inputs
    if type_ == "GatherNd":
        return inputs[0], inputs[1][:, None]
    if type_ == "ScatterNd":
        return inputs[1][:, None], np.ones(len(inputs[1]), inputs[0].dtype)
    return inputs


@cache
def _card() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CARD.read_text("utf-8"))["rows"]
    return found
