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
from gradstep.gpu.result_agreement import verdict_on
from gradstep.gpu.running_error import error_bounds
from tests.card.op_trials import trials
from tests.support.op_cases import Case

CPU = NumpyBackend()
EPS = float(np.finfo(np.float32).eps)


def cases(prefix: str) -> list[Case]:
    fused = [d for d in all_ops() if d.type.startswith(prefix) and d.kernel.fused]
    return [case for d in fused for case, _ in trials(d, (), (np.float32,))]


STEPS = [case for case in cases("Apply") if "AdagradDA" not in case.definition.type]


def of(case: Case, inputs: Any) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        return [np.asarray(x) for x in run_op(CPU, case.operation, inputs)]


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
    found, exact = of(case, inputs), _exactly(case, inputs)
    bounds = error_bounds(case.operation, inputs)
    for at, (bound, here, there) in enumerate(zip(bounds, found, exact, strict=True)):
        allowed = 1.01 * EPS * bound + float(np.finfo(np.float32).tiny)
        assert (np.abs(here - there) <= allowed).all(), (case.definition.type, size, at)


def _exactly(case: Case, inputs: Any) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        wide = [widen_array(x) for x in inputs]
        return [np.asarray(x) for x in run_op(CPU, widen_operation(case.operation), wide)]


def ftrl() -> tuple[Case, list[np.ndarray]]:
    """A small gradient beside a state of 0.1: the roots before and after cancel."""
    case = next(case for case in cases("ResourceApplyFtrl"))
    state = {"accum": 0.1, "linear": 0.0, "grad": 1e-3, "lr": 0.1, "l1": 0.0, "l2": 0.0}
    state["lr_power"] = -0.5
    names = case.definition.arity(len(case.operation.inputs))
    given_ = [np.asarray(x) for x in case.inputs]
    return case, [np.full_like(x, state.get(n, 1.0)) for n, x in zip(names, given_, strict=True)]


@pytest.mark.parametrize("output", [0, 2])
@pytest.mark.parametrize(("off", "said"), [(2.0, "close"), (40.0, "differs")])
def test_what_cancels_is_rounding_up_to_its_bound(output: int, off: float, said: str) -> None:
    """On a device, one of whose results is so many ε of its bound off."""
    case, inputs = ftrl()
    here = of(case, inputs)
    there, bounds = [*here], error_bounds(case.operation, inputs)
    there[output] = (here[output] + off * EPS * bounds[output]).astype(np.float32)
    sides = [Outcome(tuple(x)) for x in (here, there, there)]
    turn = Turn(case.operation, *sides, Outcome(available=False), tuple(inputs))
    found = verdict_on(turn, (CPU.rules, CPU.rules))
    assert found.metrics["rel_l2"] > 1e-5  # more than functions of libraries may be off
    assert (found.verdict, found.output, found.creates) == (said, output, said == "differs")


def test_functions_that_cannot_be_followed_have_no_bound() -> None:
    (case, *_) = cases("Lgamma")
    assert error_bounds(case.operation, [np.asarray(x) for x in case.inputs]) == []
    (case, *_) = cases("ReluGrad")
    assert error_bounds(case.operation, [None, np.ones(2)]) == []


def test_a_bound_is_a_real_number_whatever_the_elements() -> None:
    """An example of each kind that has them: a complex number's is that of both parts."""
    for definition in (d for d in all_ops() if d.kernel.fused and d.samples is not None):
        for case, named in trials(definition, (np.complex64,), (np.float32,)):
            inputs = [np.asarray(x) for x in case.inputs]
            bounds = error_bounds(case.operation, inputs)
            assert {bound.dtype for bound in bounds} <= {np.dtype(np.float64)}, named
            shapes = [x.shape for x in of(case, inputs)] if bounds else []
            assert [bound.shape for bound in bounds] == shapes, (definition.type, named)
