"""`tf.raw_ops` as gradient functions have it: TensorFlow's names of inputs and attributes."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.user_code import compile_item


def test_inputs_lists_of_them_attributes_and_several_outputs() -> None:
    builder = GraphBuilder()
    x = builder.constant(np.float32([[1, 2], [3, 4]]))
    total = tf.raw_ops.Sum(input=x, axis=builder.constant([0]), keep_dims=True)
    packed = tf.raw_ops.Pack(values=[x, x], axis=1, name="both")
    first, second = tf.raw_ops.Split(axis=builder.constant(0), value=x, num_split=2)
    cast = tf.raw_ops.Cast(x=x, DstT=tf.int32)
    assert packed.name == "both:0"
    assert cast.dtype is tf.int32
    found = Session(builder.build()).run([t.name for t in (total, packed, first, second)], {})
    assert [v.tolist() for v in found] == [
        [[4, 6]],
        [[[1, 2], [1, 2]], [[3, 4], [3, 4]]],
        [[1, 2]],
        [[3, 4]],
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "tf.raw_ops.Mull(x=grad, y=grad)",
            "tf.raw_ops has no 'Mull'; did you mean tf.raw_ops.Mul",
        ),
        ("tf.raw_ops.Mul(x=grad)", "Mul() got no 'y'; it takes x, y"),
        ("tf.raw_ops.Mul(x=grad, z=grad)", "Mul() got an unexpected argument 'z'; it takes x, y"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(call: str, said: str) -> None:
    item = CodeItem("g", CodeKind.GRADIENT, f"def g(op, grad):\n    return {call}\n")
    x = GraphBuilder().placeholder("x")
    with pytest.raises(GradstepError, match="'g', line 2") as caught:
        compile_item(item, trusted=True)(None, x)
    assert said in caught.value.message
