"""Of a large graph with one wrong gradient rule, the few operations that show it is wrong.

One graph as a rule, of 75 to 150 operations. Fifty, of up to 2,000, in a few minutes:

    HYPOTHESIS_PROFILE=thorough ./dev test tests/core/checks/reduction
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import settings

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.node_checks import node_checks
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.host.rule_reduction import first_wrong_rule, reduced_rule
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.first_run_values import situation
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.user_code import functions_of
from gradstep.core.protocol.messages import GradientTable, NodeCheck
from tests.support.planted_blocks import EVEN, MIX, SIZE, large_around

MOST = 10  # operations of the smallest
COUNT, is_thorough = 50, settings.default.max_examples > 500


@dataclass(frozen=True)
class Wrong:
    """block: calls the operation whose rule is wrong "planted"; source: of the rule."""

    block: Callable[[Tensor], Tensor]
    source: str


def rule(*lines: str) -> str:
    return "\n    ".join(["def rule(op, grad):", *lines]) + "\n"


WRONG = {
    "square without its 2": Wrong(
        lambda y: tf.square(y, name="planted") * 0.5, rule("return op.inputs[0] * grad")
    ),
    "sigmoid of its input": Wrong(
        lambda y: tf.sigmoid(y, name="planted"),
        rule("x = op.inputs[0]", "return x * (1.0 - x) * grad"),
    ),
    "factors exchanged": Wrong(
        lambda y: tf.multiply(y, y + 0.5, name="planted"),
        rule("a, b = op.inputs", "return a * grad, b * grad"),
    ),
    "a sign": Wrong(lambda y: tf.subtract(y, y * 0.3, name="planted"), rule("return grad, grad")),
    "counted twice": Wrong(
        lambda y: tf.tanh(y, name="planted"),
        rule("y = op.outputs[0]", "return (1.0 - y * y) * (1.0 - y * y) * grad"),
    ),
    "not transposed": Wrong(
        lambda y: tf.reshape(
            tf.matmul(tf.reshape(y, [1, SIZE]), MIX * np.arange(1, SIZE + 1, dtype=np.float32) / 4,
                      name="planted"), [SIZE]),
        rule("a, b = op.inputs", "return tf.matmul(grad, b), tf.matmul(a, grad, transpose_a=True)"),
    ),
    "nothing": Wrong(lambda y: tf.exp(y * 0.1, name="planted"), rule("return grad * 0.0")),
}  # fmt: skip
NAMES = sorted(WRONG)


def large(seed: int, most: int = 60) -> tuple[Document, str]:
    name = NAMES[seed % len(NAMES)]
    document = large_around(seed, WRONG[name].block, most, EVEN)
    code = CodeItem("Planted", CodeKind.GRADIENT, WRONG[name].source)
    override = Override("Planted", "planted", OverrideKind.OP)
    request = replace(document.request, overrides=(override,))
    return document.with_(request=request, code={"Planted": code}), name


def loaded(document: Document) -> Loaded:
    functions, errors = functions_of(document.code.values(), True)
    assert not errors
    return Loaded(document, functions)


def checks(document: Document) -> list[NodeCheck]:
    here = situation(loaded(document), NumpyBackend())
    return node_checks(Evaluator({}), here, here.differentiated)[0]


def smallest(document: Document, found: NodeCheck) -> Document:
    whole, backend = loaded(document), NumpyBackend()
    program = derive(document, whole.functions)
    return reduced_rule(whole, backend, program, situation(whole, backend).given, found)


def table(nodes: list[NodeCheck]) -> GradientTable:
    return GradientTable(rows=[], nodes=nodes, supports="neither", text="")


@pytest.mark.parametrize("seed", range(COUNT if is_thorough else 1))
def test_few_operations_show_that_a_rule_is_wrong(seed: int) -> None:
    document, name = large(seed, 2000 if is_thorough else 150)
    found = first_wrong_rule(table(checks(document)))
    assert (found.node, found.gradient) == ("planted", "Planted"), name
    small = smallest(document, found)
    assert len(small.graph) <= MOST, (name, small.graph.order)
    (wrong,) = [one for one in checks(small) if not one.agrees]
    assert (wrong.node, wrong.gradient) == ("planted", "Planted")
    right = small.with_(request=replace(small.request, overrides=()))
    assert all(one.agrees for one in checks(right)), "it is the rule that is wrong, and no number"


def test_every_way_to_be_wrong_is_made_small() -> None:
    for seed, name in enumerate(NAMES):
        document, _ = large(seed)
        found = first_wrong_rule(table(checks(document)))
        small = smallest(document, found)
        assert len(small.graph) <= MOST, name
        assert "Planted is not the gradient of planted" in small.title


def test_what_is_right_is_not_made_smaller() -> None:
    document, _ = large(0, 30)
    native = document.with_(request=replace(document.request, overrides=()))
    with pytest.raises(GradstepError, match="no gradient rule differs from finite differences"):
        first_wrong_rule(table(checks(native)))
    checked = table(checks(document))
    with pytest.raises(GradstepError, match="no gradient rule of loss differs"):
        first_wrong_rule(checked, "loss")
    found = first_wrong_rule(checked)
    elsewhere = document.with_(request=replace(document.request, of=(), wrt=()))
    with pytest.raises(GradstepError, match="no gradient arrives at planted"):
        smallest(elsewhere, found)
