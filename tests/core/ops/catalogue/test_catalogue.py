"""Every record in the op table keeps what it declares: types, kernels, formula, gradient."""

from __future__ import annotations

import re

import pytest

from gradstep.core.ops.declare.table import OpDef, all_ops
from tests.support import gradient_checks, op_checks
from tests.support.derivative_excuses import NO_SECOND_DERIVATIVE, NOT_AGAINST_DIFFERENCES
from tests.support.each_case import on_each_op
from tests.support.op_cases import KNOWN, NOTHING_KNOWN, SIZES_UNKNOWN

# No value of their own to sample: they stand for what is fed, held by a variable, or user code.
WITHOUT_SAMPLES = {
    "Placeholder": "fed",
    "VariableV2": "its variable's value",
    "VarHandleOp": "a handle",
    **{d.type: "of a queue: see test_queues" for d in all_ops() if d.subject == "queues"},
    **{d.type: "a table or iterator: see test_data" for d in all_ops() if d.subject == "data"},
    "NoOp": "no value",
    "Switch": "one of its outputs is dead: see engine/test_dead",
    "RefSwitch": "one of its outputs is dead: see engine/test_dead",
    "Merge": "it takes what is alive: see engine/test_dead",
    "RefMerge": "it takes what is alive: see engine/test_dead",
    "ControlTrigger": "no value",
    **{d.type: "of the run's arrays: see test_tensor_arrays" for d in all_ops() if d.state.per_run},
    "_Arg": "what comes into a loop's body",
    "While": "a graph: see engine/test_loops",
    "IterationCount": "of a loop that has run: see engine/test_loops",
    "IterationValue": "of a loop that has run: see engine/test_loops",
    "EagerPyFunc": "user code: see test_python_ops",
    "PyFunc": "user code: see test_python_ops",
    "PyFuncStateless": "user code: see test_python_ops",
}

SAMPLED = [d for d in all_ops() if d.samples is not None]
DIFFERENTIABLE = [d for d in SAMPLED if d.gradient.differentiable]


def test_every_op_has_samples_or_a_reason() -> None:
    assert {d.type for d in all_ops() if d.samples is None} == set(WITHOUT_SAMPLES)


@on_each_op(all_ops())
def test_it_is_described(definition: OpDef) -> None:
    assert re.fullmatch(r".+\.", definition.doc)
    assert definition.family
    assert set(definition.state.writes) <= set(range(len(definition.inputs)))


@on_each_op(SAMPLED)
def test_inferred_types_are_the_real_ones(definition: OpDef) -> None:
    op_checks.check_inference(definition)


@on_each_op(SAMPLED)
def test_float32_stays_float32(definition: OpDef) -> None:
    op_checks.check_dtypes_kept(definition)


@on_each_op(SAMPLED)
def test_inputs_stay_as_they_were(definition: OpDef) -> None:
    op_checks.check_inputs_untouched(definition)


@on_each_op(SAMPLED)
def test_out_form_writes_the_same_bits(definition: OpDef) -> None:
    op_checks.check_out_form(definition)


@on_each_op(SAMPLED)
def test_calls_take_rows_that_lie_apart(definition: OpDef) -> None:
    op_checks.check_calls_with_gaps(definition)


@on_each_op(SAMPLED)
def test_memory_may_be_shared_as_it_says(definition: OpDef) -> None:
    op_checks.check_layout_claims(definition)


@on_each_op(SAMPLED)
def test_formula_is_the_kernel(definition: OpDef) -> None:
    op_checks.check_formula(definition)


@on_each_op(SAMPLED)
def test_kernel_keeps_to_its_device(definition: OpDef) -> None:
    op_checks.check_device_discipline(definition)


@pytest.mark.slow
@on_each_op(DIFFERENTIABLE)
def test_gradient_agrees_with_differences(definition: OpDef) -> None:
    """First and second derivatives, on every sample that has floating-point inputs and outputs,
    with and without static shapes; derivative_excuses.py says what is left out, and why."""
    orders = gradient_checks.check_gradient(definition, (KNOWN, SIZES_UNKNOWN, NOTHING_KNOWN))
    excused = definition.type in NOT_AGAINST_DIFFERENCES
    wanted = 0 if excused else 1 if definition.type in NO_SECOND_DERIVATIVE else 2
    assert max(orders, default=0) == wanted
    assert set(orders) <= {0, wanted}
