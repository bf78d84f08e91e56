"""Bounds of the error of steps of optimizers: rounding stays below, and no more is let go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.check.promote_float64 import widen_array, widen_operation
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.ops.declare.table import all_ops
from gradstep.gpu.device_run import Outcome
from gradstep.gpu.lockstep import Turn
from gradstep.gpu.result_agreement import Verdict, verdict_on
from gradstep.gpu.running_error import error_bound
from tests.card.op_trials import trials
from tests.support.op_cases import Case

CPU = NumpyBackend()
EPS = float(np.finfo(np.float32).eps)


def cases(prefix: str) -> list[Case]:
    fused = [d for d in all_ops() if d.type.startswith(prefix) and d.kernel.fused]
    return [case for d in fused for case, _ in trials(d, (), (np.float32,))]


STEPS = [case for case in cases("Apply") if "AdagradDA" not in case.definition.type]


def of(case: Case, inputs: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(run_op(CPU, case.operation, inputs)[0])


@given(st.data())
def test_a_step_in_float32_is_as_far_from_one_in_float64_as_the_bound_lets_it(data: Any) -> None:
    """Gradients of any size beside state: where they are small, terms cancel."""
    case = data.draw(st.sampled_from(STEPS))
    size = data.draw(st.sampled_from([1.0, 1e-2, 1e-4, 1e-6]))
    names = case.definition.arity(len(case.operation.inputs))
    given_ = [np.asarray(x) for x in case.inputs]
    inputs = [
        x * x.dtype.type(size) if n == "grad" else x for n, x in zip(names, given_, strict=True)
    ]
    bound = error_bound(case.operation, inputs)
    assert bound is not None
    found, exact = of(case, inputs), _exactly(case, inputs)
    allowed = 1.01 * EPS * bound + float(np.finfo(np.float32).tiny)
    assert (np.abs(found - exact) <= allowed).all(), (case.definition.type, size)


def _exactly(case: Case, inputs: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        wide = [widen_array(x) for x in inputs]
        return np.asarray(run_op(CPU, widen_operation(case.operation), wide)[0])


def ftrl() -> tuple[Case, list[np.ndarray]]:
    """A small gradient beside a state of 0.1: the roots before and after cancel."""
    case = next(case for case in STEPS if case.definition.type == "ApplyFtrl")
    state = {"accum": 0.1, "linear": 0.0, "grad": 1e-3, "lr": 0.1, "l1": 0.0, "l2": 0.0}
    names = case.definition.arity(len(case.operation.inputs))
    given_ = [np.asarray(x) for x in case.inputs]
    return case, [
        np.full_like(x, state.get(n, -0.5 if n == "lr_power" else 1.0))
        for n, x in zip(names, given_, strict=True)
    ]


def verdict(case: Case, inputs: list[np.ndarray], off: float) -> Verdict:
    """On a device whose result is so many ε of the bound off."""
    here = of(case, inputs)
    bound = error_bound(case.operation, inputs)
    assert bound is not None
    there = (here + off * EPS * bound).astype(here.dtype)
    sides = [Outcome((x,)) for x in (here, there, there)]
    turn = Turn(case.operation, *sides, Outcome(available=False), tuple(inputs))
    return verdict_on(turn, (CPU.rules, CPU.rules))


@pytest.mark.parametrize(("off", "said"), [(2.0, "close"), (40.0, "differs")])
def test_what_cancels_is_rounding_up_to_its_bound(off: float, said: str) -> None:
    case, inputs = ftrl()
    found = verdict(case, inputs, off)
    assert found.metrics["rel_l2"] > 1e-5  # more than functions of libraries may be off
    assert (found.verdict, found.creates) == (said, said == "differs")


def test_functions_that_cannot_be_followed_have_no_bound() -> None:
    (case, *_) = cases("Lgamma")
    assert error_bound(case.operation, [np.asarray(x) for x in case.inputs]) is None
    (case, *_) = cases("ReluGrad")
    assert error_bound(case.operation, [None, np.ones(2)]) is None
