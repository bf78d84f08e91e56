"""What does not fit a pooling op is refused in TensorFlow's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.interpret import evaluate
from tests.support.windows import STILL, explicit, ints

TWOS = (1, 2, 2, 1)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


X, Y = zeros(1, 5, 5, 2), zeros(1, 2, 2, 2)
POOL, MEAN, BACK, AGAIN = "MaxPool", "AvgPool", "MaxPoolGrad", "MaxPoolGradGrad"
BOTH = "MaxPooling supports exactly one of pooling across depth or pooling across width/height."
# Type, inputs, attributes besides a window of 2 by 2 side by side, TensorFlow 2.21's words.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    (POOL, (zeros(5, 5, 2),), {}, "Shape must be rank 4 but is rank 3"),
    (POOL, (zeros(1, 1, 5, 2),), {}, "Negative dimension size caused by subtracting 2 from 1"),
    (
        POOL,
        (X,),
        {"ksize": (2, 2)},
        "Attr 'ksize' of 'MaxPool' Op passed list of length 2 less than minimum 4.",
    ),
    (
        POOL,
        (X,),
        {"ksize": (1, 0, 2, 1)},
        "Sliding window ksize must be positive. The specified or inferred ksize is: 1,0,2,1",
    ),
    (POOL, (X,), {"strides": (1, 0, 2, 1)}, "Stride must be > 0, but got 0"),
    (POOL, (X,), {"ksize": (2, 2, 2, 1)}, "Pooling is not yet supported on the batch dimension."),
    (POOL, (X,), {"ksize": (1, 2, 2, 2), "strides": (1, 1, 1, 2)}, BOTH),
    (
        POOL,
        (X,),
        {"ksize": (1, 1, 1, 2), "strides": STILL},
        "Depthwise max pooling requires the depth window to equal the depth stride",
    ),
    (
        POOL,
        (zeros(1, 5, 5, 3),),
        {"ksize": (1, 1, 1, 2), "strides": (1, 1, 1, 2)},
        "Depthwise max pooling requires the depth window to evenly divide the input depth",
    ),
    (
        MEAN,
        (X,),
        {"ksize": (1, 1, 1, 2), "strides": (1, 1, 1, 2)},
        "Non-spatial pooling is not yet supported. Volunteers? :)",
    ),
    (
        POOL,
        (X,),
        explicit(0, 0, 2, 0, 0, 1, 0, 0),
        "Top padding 2 needs to be smaller than the window size 2",
    ),
    (POOL, (X.astype(bool),), {}, "takes integers or floating-point numbers, not bool"),
    (POOL, (X.astype(np.uint32),), {}, "takes integers or floating-point numbers, not uint32"),
    (MEAN, (X.astype(np.int32),), {}, "takes floating-point numbers, not int32"),
    (
        BACK,
        (X, zeros(1, 3, 2, 2), Y),
        {},
        "Expected orig_output shape to be [1,2,2,2], but got [1,3,2,2]",
    ),
    (BACK, (X, Y, zeros(1, 3, 2, 2)), {}, "Expected grad shape to be [1,2,2,2], but got [1,3,2,2]"),
    (AGAIN, (X, Y, Y), {}, "Expected grad shape to be [1,5,5,2], but got [1,2,2,2]"),
    ("AvgPoolGrad", (ints(5, 5, 2), Y), {}, "Shape must be rank 4 but is rank 3"),
]


@each_of(("type", "inputs", "attrs", "words"), REFUSED)
def test_what_does_not_fit_is_refused(type: str, inputs: Any, attrs: Any, words: str) -> None:
    builder = GraphBuilder()
    tensors = [builder.constant(x) for x in inputs]
    with pytest.raises(GradstepError) as caught:
        builder.op(
            type,
            *tensors,
            name="it",
            **{"ksize": TWOS, "strides": TWOS, "padding": "VALID", **attrs},
        )
    assert words in caught.value.message
    assert caught.value.node == "it"


MISFITS = [row for row in REFUSED if not row[2] and row[1][0].dtype in (np.float32,)]


@pytest.mark.parametrize(("type", "inputs", "attrs", "words"), MISFITS)
def test_it_is_refused_with_the_same_words_when_running(
    type: str, inputs: Any, attrs: Any, words: str
) -> None:
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, value in enumerate(inputs):
        tensors.append(builder.placeholder(f"in{index}", str(value.dtype)))
        feeds[f"in{index}"] = value
    y = builder.one(type, *tensors, ksize=TWOS, strides=TWOS, padding="VALID", **attrs)
    with pytest.raises(GradstepError) as caught:
        evaluate(builder.build(), [y.ref], feeds)
    assert words in caught.value.message
