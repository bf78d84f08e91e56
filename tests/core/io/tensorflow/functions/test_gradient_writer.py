"""Graphs of gradient functions as Python; and one sentence where they are damaged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.tensorflow.functions.gradient_writer import CALL, gradient_text

GIVEN = Operation("given_0", "Placeholder", attrs={"dtype": DType.FLOAT32})


def made(name: str, type: str, *inputs: str, **attrs: Any) -> Operation:
    return Operation(name, type, tuple(map(TensorRef.parse, inputs)), attrs=attrs)


def constant(name: str, value: Any) -> Operation:
    array = np.asarray(value)
    return made(name, "Const", value=Constant(array), dtype=DType.of(array.dtype))


def text_of(*operations: Operation) -> str:
    return gradient_text("own", "back", Graph.of([GIVEN, *operations]), ["grads[0]"], [True])


def test_what_an_operation_is_called_hides_nothing_that_the_lines_say() -> None:
    text = text_of(
        made("float", "LeakyRelu", "given_0", T=DType.FLOAT32, alpha=math.inf),
        constant("bool", np.bool_(True)),
        made("object", "SelectV2", "bool", "float", "given_0", T=DType.FLOAT32),
        made(CALL, "Identity", "object", T=DType.FLOAT32),
    )
    assert "float_2 = tf.raw_ops.LeakyRelu(" in text
    assert "alpha=float('inf')" in text
    assert "bool_2 = tf.constant(np.array(True, bool))" in text
    assert "object_2 = tf.raw_ops.SelectV2(" in text
    assert text.endswith("return [object_2]\n")


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        (
            (
                constant("three", np.zeros(3, np.float32)),
                constant("sizes", np.int32([2, 2])),
                made(CALL, "Reshape", "three", "sizes", T=DType.FLOAT32, Tshape=DType.INT32),
            ),
            "'call' (Reshape) in it cannot be computed",
        ),
        (
            (made(CALL, "Neg", "given_0:1", T=DType.FLOAT32),),
            "it takes 'given_0:1', which nothing in it gives",
        ),
        (
            (made("other", "Neg", "given_0", T=DType.FLOAT32),),
            "it gives 0 tensors where 1 are wanted",
        ),
    ],
)
def test_what_is_damaged_is_one_sentence(operations: tuple[Operation, ...], why: str) -> None:
    with pytest.raises(GradstepError) as caught:
        text_of(*operations)
    assert caught.value.message == why
