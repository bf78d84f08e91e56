"""What ops declare as TensorFlow's own defects: it is one, it is recorded, and excuses no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.autodiff.check.op_gradcheck import LocalCheck, check_operation
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.declared_gradient import Defect
from gradstep.core.ops.declare.table import all_ops, lookup
from tests.support import oracle
from tests.support.networks import evaluate

CASE = oracle.case("gradient_defects")
RECORDED = {
    "SoftmaxCrossEntropyWithLogits": ("softmax cross-entropy", ("logits", "labels")),
    "Cumprod": ("cumprod", ("x",)),
    "Prod": ("reduce_prod", ("x",)),
}
DECLARED = [
    pytest.param(definition.type, defect, id=f"{definition.type} {defect.input} {defect.order}")
    for definition in all_ops()
    for defect in definition.gradient.defects
]


def checked(type_: str) -> LocalCheck:
    """The op alone, on what was fed to TensorFlow."""
    entry, names = RECORDED[type_]
    inputs = [oracle.array(CASE[entry]["inputs"][name]) for name in names]
    axes = {"Cumprod": [np.array(0, np.int32)], "Prod": [np.array([0], np.int32)]}
    inputs += axes.get(type_, [])
    refs = tuple(TensorRef(f"in{i}") for i in range(len(inputs)))
    op = Operation("it", type_, refs)
    shape = () if type_ == "Prod" else inputs[0].shape[:1]
    arriving = 0.5 + np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)
    request = GradientRequest.to("it", *(ref.op for ref in refs))
    check = check_operation(evaluate, op, inputs, {0: arriving}, request, {}, second_order=True)
    assert check is not None
    return check


@pytest.mark.parametrize(("type_", "defect"), DECLARED)
def test_a_declared_defect_is_one(type_: str, defect: Defect) -> None:
    """The numbers do not support the gradient, which is what is declared, and why is said."""
    index = [spec.name for spec in lookup(type_).inputs].index(defect.input)
    check = checked(type_)
    found = (check.findings if defect.order == 1 else check.second)[index]
    assert found.verdict is Verdict.DEFECT
    assert found.analytic == defect.gives != pytest.approx(found.numeric)
    assert "a defect of TensorFlow's own at index" in found.text
    assert found.why == f"{defect.why} ({defect.source})"


@pytest.mark.parametrize("type_", RECORDED)
def test_nothing_else_of_these_ops_is_wrong(type_: str) -> None:
    check = checked(type_)
    orders = {1: check.findings, 2: check.second}
    names = [spec.name for spec in lookup(type_).inputs]
    found = {(names[i], n) for n, each in orders.items() for i, f in each.items()
             if f.verdict is Verdict.DEFECT}  # fmt: skip
    assert found == {(defect.input, defect.order) for defect in lookup(type_).gradient.defects}
    assert Verdict.WRONG not in {f.verdict for each in orders.values() for f in each.values()}


@pytest.mark.parametrize(("type_", "defect"), DECLARED)
def test_another_value_there_is_wrong(
    type_: str, defect: Defect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect says what TensorFlow gives; a mistake of our own in the same place is no excuse."""
    definition = lookup(type_)
    gradient = definition.gradient
    others = tuple(replace(d, gives=1.0) if d is defect else d for d in gradient.defects)
    wrong = replace(definition, gradient=replace(gradient, defects=others))
    monkeypatch.setitem(table._TABLE, type_, wrong)
    check = checked(type_)
    verdicts = [f.verdict for f in (check.findings if defect.order == 1 else check.second).values()]
    assert Verdict.WRONG in verdicts


def test_every_declared_defect_is_recorded() -> None:
    assert {definition.type for definition in all_ops() if definition.gradient.defects} == {
        *RECORDED
    }
