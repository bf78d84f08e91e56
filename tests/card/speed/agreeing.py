"""Whether two sides computed the same, which is asked before either is timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.bench.agreement import disagreement
from tests.bench.program import Numbers, Program

STEPS = 3
_PROBED = 64  # elements of a result of an operation
Found = Sequence[Mapping[str, Any]]


def first_steps(program: Program, count: int = STEPS) -> list[Numbers]:
    """What the first steps compute."""
    found = []
    for _ in range(count):
        program.step()
        found.append({name: float(x) for name, x in program.numbers().items()})
    return found


def digest(array: np.ndarray) -> dict[str, Any]:
    """Of a result: its shape, elements at some places, the largest and the mean of their sizes."""
    flat = np.abs(array).ravel()
    places = np.linspace(0, flat.size - 1, _PROBED).astype(int)
    return {
        "shape": list(array.shape),
        "elements": [float(f"{float(x):.8g}") for x in array.ravel()[places]],
        "largest": float(flat.max()),
        "mean": float(flat.mean(dtype=np.float64)),
    }


def steps_differ(judge: Found, found: Found) -> str:
    """Where the first steps of a workload are not those of `judge`; empty when they are."""
    count = min(len(judge), len(found))
    return disagreement(judge[:count], found[:count])


def results_differ(judge: Found, found: Found, tolerance: float) -> str:
    """Where an operation's results are not those of `judge`, relative to the largest element."""
    for number, (wanted, have) in enumerate(zip(judge, found, strict=True)):
        if wanted["shape"] != have["shape"]:
            return f"result {number} is of shape {have['shape']}, not {wanted['shape']}"
        scale = max(wanted["largest"], 1e-30)
        pairs = [*zip(have["elements"], wanted["elements"], strict=True)]
        pairs += [(have[name], wanted[name]) for name in ("largest", "mean")]
        far = max(abs(a - b) for a, b in pairs) / scale
        if not far <= tolerance:  # NaN is no agreement
            return f"result {number} is off by {far:.2g} of the largest element"
    return ""
