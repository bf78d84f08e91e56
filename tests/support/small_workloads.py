"""The benchmarks' workloads as their builders make them, of a size that tests can afford."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.bench import ours
from tests.support.layouts import Case


def _w1() -> dict[str, Any]:
    """It is small as it is."""
    return {"RATES": {"check": 1e-2}}


def _w2() -> dict[str, Any]:
    return {"LEVELS": range(12)}


def _w3() -> dict[str, Any]:
    return {"DATA": _labelled(7, 20, 5), "START": {"w": _floats(20, 5), "b": _floats(5)}}


def _w4() -> dict[str, Any]:
    sizes = {"w0": (20, 16), "b0": (16,), "w1": (16, 16), "b1": (16,), "w2": (16, 5), "b2": (5,)}
    return {"DATA": _labelled(9, 20, 5), "START": {n: _floats(*s) for n, s in sizes.items()}}


def _w5() -> dict[str, Any]:
    """Its reshape fixes the pictures' size and the last layer's channels."""
    data = {"x": _floats(3, 28, 28, 1), "labels": np.eye(4, dtype=np.float32)[[0, 3, 1]]}
    sizes = {"f1": (5, 5, 1, 8), "c1": (8,), "f2": (5, 5, 8, 64), "c2": (64,)}
    dense = {"w1": (7 * 7 * 64, 12), "b1": (12,), "w2": (12, 4), "b2": (4,)}
    return {"DATA": data, "START": {n: _floats(*s) for n, s in {**sizes, **dense}.items()}}


def _w6() -> dict[str, Any]:
    units, inputs, batch = 8, 5, 4
    sizes = {"wx": (inputs, 4 * units), "wh": (units, 4 * units), "b": (4 * units,)}
    start = {n: _floats(*s) for n, s in {**sizes, "wy": (units, 1)}.items()}
    data = {"x": _floats(6, batch, inputs), "wanted": _floats(batch, 1)}
    return {"DATA": data, "START": start, "BATCH": batch, "UNITS": units}


def _w7() -> dict[str, Any]:
    """More than one block, the last one not full."""
    return {"X": _floats(100_003), "W": _floats(100_003)}


def _w8() -> dict[str, Any]:
    indices = (np.random.default_rng(8).zipf(1.3, 200) % 50).astype(np.int32)
    return {"TABLE": _floats(50, 4), "INDICES": indices, "GRADIENT": _floats(200, 4)}


def _w9() -> dict[str, Any]:
    return {"STAGES": ((2, 4, 1), (1, 8, 2)), "STEM": 4, "SIDE": 20, "CLASSES": 9}


def _w10() -> dict[str, Any]:
    """Two layers each; W11's networks, too."""
    return {"BATCH": 2, "NOISE": 5, "SIDE": 8, "CHANNELS": (8, 4, 3), "CRITIC": (3, 4, 8)}


# Workload -> what its module has other values for.
_SIZES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "w1": _w1,
    "w2": _w2,
    "w3": _w3,
    "w4": _w4,
    "w5": _w5,
    "w6": _w6,
    "w7": _w7,
    "w7f": _w7,
    "w8": _w8,
    "w9": _w9,
    "w10": _w10,
    "w11": _w10,
}
_NETWORKS = {"w7f": "w7", "w11": "w10"}  # whose networks are another workload's
WORKLOADS = tuple(_SIZES)


def workload(name: str) -> Case:
    """What the benchmark would hand to the engine."""
    module = importlib.import_module(f"tests.bench.workloads.{name}")
    sized = importlib.import_module(f"tests.bench.workloads.{_NETWORKS.get(name, name)}")
    with patch.multiple(sized, **_SIZES[name]()):
        plan, feeds, initial = ours.handed_over(module.ours, module.RATES["check"])
    return Case(plan.graph, plan.fetches, plan.targets, feeds, dict(initial))


def _floats(*shape: int) -> np.ndarray:
    random = np.random.default_rng(sum(shape) + len(shape))
    return random.uniform(-0.5, 0.5, shape).astype(np.float32)


def _labelled(batch: int, inputs: int, classes: int) -> dict[str, np.ndarray]:
    labels = np.random.default_rng(batch).integers(0, classes, batch)
    return {"x": _floats(batch, inputs), "labels": np.eye(classes, dtype=np.float32)[labels]}
