"""Questions to which libraries have different answers, 500 cases each, in terms of our operations.

A case is one small input; a question is an operation on many of them, asked one by one, for a
library may refuse some. Known to run without Gradstep: a library's own environment has only that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

CASES = 500
Arrays = tuple[np.ndarray, ...]  # each of CASES cases along the first axis


@dataclass(frozen=True)
class Question:
    """corner: of gradstep.gpu.corner_cases, which it is about. inputs: of all cases. fixed:
    further inputs, the same in each. without: libraries whose profile
    is that of a card, where this is another matter."""

    corner: str
    type: str
    inputs: Arrays
    fixed: Arrays = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    def of(self, case: int) -> Arrays:
        return (*(x[case] for x in self.inputs), *self.fixed)


def questions() -> dict[str, Question]:
    """By name, the same numbers every time."""
    found: dict[str, Question] = {}
    makers: tuple[Callable[[np.random.Generator], dict[str, Question]], ...] = (
        _integers, _quotients, _casts, _nans, _indices, _empties, _subnormals,
    )  # fmt: skip
    for number, make in enumerate(makers):
        found |= make(np.random.default_rng(number))
    return found


def _integers(rng: np.random.Generator) -> dict[str, Question]:
    found = {}
    for kind in ("int8", "uint8", "int32", "int64"):
        limits = np.iinfo(kind)
        x = rng.integers(limits.min, limits.max, CASES, kind, endpoint=True)
        x[::3] = rng.integers(0, 20, len(x[::3]))
        y = rng.integers(0 if kind[0] == "u" else -3, 4, CASES).astype(kind)
        if limits.min:  # by -1 it ends some processes
            x[(x == limits.min) & (y == -1)] = 1
        for type_ in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"):
            found[f"{type_} {kind}"] = Question("divide_by_zero", type_, (x, y))
        bits = 8 * limits.dtype.itemsize
        by = rng.integers(0 if kind[0] == "u" else -3, bits + 4, CASES).astype(kind)
        for type_ in ("LeftShift", "RightShift"):
            found[f"{type_} {kind}"] = Question("shift_beyond", type_, (x, by))
    return found


def _quotients(rng: np.random.Generator) -> dict[str, Question]:
    found = {}
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1]
    for kind in ("float32", "float64"):
        x, y = (rng.integers(-60, 60, CASES) / 10 for _ in range(2))
        for z in (x, y):
            at = rng.random(CASES) < 0.2
            z[at] = rng.choice(special, int(at.sum()))
        pair = x.astype(kind), y.astype(kind)
        found |= {f"{t} {kind}": Question("float_floor", t, pair) for t in ("FloorDiv", "FloorMod")}
    return found


def _casts(rng: np.random.Generator) -> dict[str, Question]:
    found = {}
    for kind in ("float32", "float64"):
        x = rng.normal(size=CASES) * 10.0 ** rng.integers(0, 22, CASES)
        x[::20], x[1::20], x[2::20] = np.nan, np.inf, -np.inf
        for to in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"):
            name = f"Cast {kind} {to}"
            found[name] = Question("no_room", "Cast", (x.astype(kind),), attrs={"DstT": to})
    return found


def _nans(rng: np.random.Generator) -> dict[str, Question]:
    x = rng.integers(-3, 4, (CASES, 5)).astype(np.float32)
    x[rng.random((CASES, 5)) < 0.2] = np.nan
    zero, one = np.array(0, np.int32), np.array([0], np.int32)
    found = {}
    for type_ in ("ArgMax", "ArgMin"):
        found[f"{type_} NaN"] = Question("nan_in_place", type_, (x,), (zero,))
    for type_ in ("Max", "Min"):
        found[f"{type_} NaN"] = Question("nan_in_extremes", type_, (x,), (one,))
    for type_ in ("Maximum", "Minimum"):
        found[f"{type_} NaN"] = Question("nan_in_extremes", type_, (x[:, 0], x[:, 1]))
    found["Relu NaN"] = Question("nan_in_extremes", "Relu", (x,))
    found["Relu6 NaN"] = Question("nan_in_extremes", "Relu6", (3 * x,))
    found["Sign NaN"] = Question("sign_of_nan", "Sign", (x,))
    top = np.array(3, np.int32)
    distinct = rng.permuted(np.tile(np.arange(5, dtype=np.float32), (CASES, 1)), axis=1)
    distinct[np.arange(CASES), rng.integers(0, 5, CASES)] = np.nan
    found["TopKV2 NaN"] = Question("nan_in_top_k", "TopKV2", (distinct,), (top,))
    ties = rng.integers(0, 3, (CASES, 5)).astype(np.float32)
    found["TopKV2 ties"] = Question("ties_in_top_k", "TopKV2", (ties,), (top,))
    found["ArgMax ties"] = Question("ties", "ArgMax", (ties,), (zero,))
    found["ArgMin ties"] = Question("ties", "ArgMin", (ties,), (zero,))
    return found


def _indices(rng: np.random.Generator) -> dict[str, Question]:
    i32 = np.int32
    rows = np.arange(10, 60, 10).astype(np.float32)
    at = rng.integers(-9, 10, (CASES, 1), i32)
    one = np.ones(1, np.float32)
    size, axis = np.array([5], i32), np.array(0, i32)
    updates, batch = np.tile(one, (CASES, 1)), np.tile(rows, (CASES, 1))
    labels = rng.integers(-4, 7, (CASES, 1), i32)
    logits = rng.integers(-2, 3, (CASES, 1, 3)).astype(np.float32)
    on, off = np.array(1, np.float32), np.array(0, np.float32)
    return {
        "GatherV2": Question("gather", "GatherV2", (batch, at), (axis,)),
        "GatherNd": Question("gather", "GatherNd", (batch, at[..., None])),
        "ScatterNd": Question("scatter", "ScatterNd", (at[..., None], updates), (size,)),
        "UnsortedSegmentSum": Question(
            "segments", "UnsortedSegmentSum", (updates, at), (np.array(5, i32),)
        ),
        "UnsortedSegmentProd": Question(
            "segments", "UnsortedSegmentProd", (2 * updates, at), (np.array(5, i32),)
        ),
        "OneHot": Question("one_hot", "OneHot", (labels,), (np.array(3, i32), on, off)),
        "SparseSoftmaxCrossEntropyWithLogits": Question(
            "labels", "SparseSoftmaxCrossEntropyWithLogits", (logits, labels)
        ),
    }


def _subnormals(rng: np.random.Generator) -> dict[str, Question]:
    """Numbers below the smallest normal one, and some above it."""
    x, y = (
        (rng.normal(size=CASES) * 10.0 ** rng.integers(-42, -36, CASES)).astype(np.float32)
        for _ in range(2)
    )
    found = {}
    one = np.ones(CASES, np.float32)
    pairs = {
        "AddV2": (x, y), "Sub": (x, y), "Mul": (x, one), "RealDiv": (x, one), "Maximum": (x, y),
        "Minimum": (x, y), "Greater": (x, 0 * y), "Less": (x, 0 * y), "Equal": (x, 0 * y),
        "Neg": (x,), "Abs": (x,), "Square": (x * np.float32(1e18),), "Sqrt": (np.abs(x),),
        "Sign": (x,),
    }  # fmt: skip
    for type_, inputs in pairs.items():
        found[f"{type_} subnormal"] = Question("subnormals", type_, inputs, without=("jax",))
    return found


def _empties(rng: np.random.Generator) -> dict[str, Question]:
    """One case repeated would say nothing more: several lengths beside the empty axis."""
    found = {}
    for type_ in ("Max", "Min", "Sum", "Prod", "Mean"):
        for rest in (1, 3):
            nothing = np.zeros((1, 0, rest), np.float32)
            question = Question("empty", type_, (nothing,), (np.array([0], np.int32),))
            found[f"{type_} of nothing {rest}"] = question
    return found
