"""Custom gradients use variables: those of the network, and some of their own."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.document import document_edits
from gradstep.core.document.block_insertion import add_block
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.program.derive import derive

CODE = """
def own(op, grad):
    with tf.variable_scope("dense", reuse=True):
        bias = tf.get_variable("bias")
    with tf.variable_scope("mine"):
        factor = tf.get_variable("factor", initializer=2.0)
    return grad * factor + bias, None
"""


def test_a_gradient_shares_the_networks_variables_and_makes_its_own() -> None:
    document, _ = add_block(Document(), "dense", (0, 0))
    document = document_edits.set_initial(document, "dense/bias", np.array([1, 2, 3], np.float32))
    document = document_edits.set_request(document, ["dense/BiasAdd"], ["dense/MatMul"])
    document = document_edits.set_code(document, CodeItem("own", CodeKind.GRADIENT, CODE))
    override = Override("own", "dense/BiasAdd", OverrideKind.OP)
    program = derive(document_edits.set_override(document, override), trusted=True)
    assert program.problems == ()
    assert [op.name for op in program.forward if op.type == "VariableV2"] == [
        "dense/kernel",
        "dense/bias",
    ]
    session = Session(program.graph, initial=program.initial)
    gradient = program.gradients[TensorRef("dense/MatMul")]
    (found,) = session.run([gradient], program.feeds)
    np.testing.assert_array_equal(found, np.tile(np.float32([3, 4, 5]), (2, 1)))
