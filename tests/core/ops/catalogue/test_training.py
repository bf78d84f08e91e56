"""The ops that apply gradients, bit for bit against TensorFlow's float32 runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import lookup
from tests.support import oracle
from tests.support.interpret import call_kernel

RUNS = oracle.case("optimizer_update_formulas")
GRADIENTS = oracle.array(RUNS["inputs"]["g_t (fed)"]).astype(np.float32)
START = oracle.array(RUNS["inputs"]["w0"]).astype(np.float32)


def single(x: float) -> np.ndarray:
    return np.array(x, np.float32)


def apply(type: str, *inputs: Any) -> tuple[np.ndarray, ...]:
    definition = lookup(type)
    results = call_kernel(definition, Operation("it", type), inputs)
    assert len(results) == len(definition.state.writes)
    return results


@pytest.mark.parametrize("type", ["ApplyAdam", "ResourceApplyAdam"])
@pytest.mark.parametrize(
    ("run", "rate", "epsilon"),
    [("Adam(0.1)", 0.1, 1e-8), ("Adam(0.001,eps=0.1) (tutorial)", 0.001, 0.1)],
)
def test_adam(type: str, run: str, rate: float, epsilon: float) -> None:
    var, m, v = START, np.zeros_like(START), np.zeros_like(START)
    power1, power2 = beta1, beta2 = single(0.9), single(0.999)
    for gradient, step in zip(GRADIENTS, RUNS["runs"][f"{run}/float32/ref"]["steps"], strict=True):
        hyper = (power1, power2, single(rate), beta1, beta2, single(epsilon))
        var, m, v = apply(type, var, m, v, *hyper, gradient)
        power1, power2 = power1 * beta1, power2 * beta2
        slots = step["slots"]
        for found, wanted in ((var, step["w"]), (m, slots["m"]), (v, slots["v"])):
            assert found.tobytes() == oracle.array(wanted).tobytes()


@pytest.mark.parametrize("type", ["ApplyGradientDescent", "ResourceApplyGradientDescent"])
def test_gradient_descent(type: str) -> None:
    var = START
    steps = RUNS["runs"]["GradientDescent(0.1)/float32/ref"]["steps"]
    for gradient, step in zip(GRADIENTS, steps, strict=True):
        (var,) = apply(type, var, single(0.1), gradient)
        assert var.tobytes() == oracle.array(step["w"]).tobytes()
