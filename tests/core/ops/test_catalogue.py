"""Every record in the op table keeps what it declares: types, kernels, formula, gradient."""

from __future__ import annotations

import re

import pytest

from core.ops.table import OpDef, all_ops
from tests.support import op_checks
from tests.support.derivative_excuses import NO_SECOND_DERIVATIVE, NOT_AGAINST_DIFFERENCES
from tests.support.op_cases import NOTHING_KNOWN, SIZES_UNKNOWN

# No value of their own to sample: they stand for what is fed, held by a variable, or user code.
WITHOUT_SAMPLES = {
    "Placeholder": "fed",
    "VariableV2": "its variable's value",
    "VarHandleOp": "a handle",
    "NoOp": "no value",
    "EagerPyFunc": "user code: see test_python_ops",
    "PyFunc": "user code: see test_python_ops",
    "PyFuncStateless": "user code: see test_python_ops",
}

EVERY = [pytest.param(d, id=d.type) for d in all_ops()]
SAMPLED = [pytest.param(d, id=d.type) for d in all_ops() if d.samples is not None]
DIFFERENTIABLE = [
    pytest.param(d, id=d.type) for d in all_ops() if d.samples is not None and d.differentiable
]


def test_every_op_has_samples_or_a_reason() -> None:
    assert {d.type for d in all_ops() if d.samples is None} == set(WITHOUT_SAMPLES)


@pytest.mark.parametrize("definition", EVERY)
def test_it_is_described(definition: OpDef) -> None:
    assert re.fullmatch(r".+\.", definition.doc)
    assert definition.family
    assert set(definition.writes) <= set(range(len(definition.inputs)))


@pytest.mark.parametrize("definition", SAMPLED)
def test_inferred_types_are_the_real_ones(definition: OpDef) -> None:
    op_checks.check_inference(definition)


@pytest.mark.parametrize("definition", SAMPLED)
def test_float32_stays_float32(definition: OpDef) -> None:
    op_checks.check_dtypes_kept(definition)


@pytest.mark.parametrize("definition", SAMPLED)
def test_inputs_stay_as_they_were(definition: OpDef) -> None:
    op_checks.check_inputs_untouched(definition)


@pytest.mark.parametrize("definition", SAMPLED)
def test_out_form_writes_the_same_bits(definition: OpDef) -> None:
    op_checks.check_out_form(definition)


@pytest.mark.parametrize("definition", SAMPLED)
def test_calls_take_rows_that_lie_apart(definition: OpDef) -> None:
    op_checks.check_calls_with_gaps(definition)


@pytest.mark.parametrize("definition", SAMPLED)
def test_memory_may_be_shared_as_it_says(definition: OpDef) -> None:
    op_checks.check_layout_claims(definition)


@pytest.mark.parametrize("definition", SAMPLED)
def test_formula_is_the_kernel(definition: OpDef) -> None:
    op_checks.check_formula(definition)


@pytest.mark.parametrize("definition", SAMPLED)
def test_kernel_keeps_to_its_device(definition: OpDef) -> None:
    op_checks.check_device_discipline(definition)


@pytest.mark.parametrize("definition", DIFFERENTIABLE)
def test_gradient_agrees_with_differences(definition: OpDef) -> None:
    """First and second derivatives, on every sample that has floating-point inputs and outputs;
    derivative_excuses.py says what is left out, and why."""
    orders = op_checks.check_gradient(definition)
    excused = definition.type in NOT_AGAINST_DIFFERENCES
    wanted = 0 if excused else 1 if definition.type in NO_SECOND_DERIVATIVE else 2
    assert max(orders, default=0) == wanted
    assert set(orders) <= {0, wanted}


@pytest.mark.parametrize("known", [SIZES_UNKNOWN, NOTHING_KNOWN])
@pytest.mark.parametrize("definition", DIFFERENTIABLE)
def test_gradient_without_static_shapes(definition: OpDef, known: str) -> None:
    op_checks.check_gradient(definition, known)
