"""1 / 2 = 0, and divisions of whole numbers that are meant."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings


def found(a: int, b: int, cast: bool = True) -> list[str]:
    def draw(build: GraphBuilder) -> None:
        w = build.variable("w")
        of = [build.constant(np.int32(n), name=name) for n, name in ((a, "a"), (b, "b"))]
        quotient = build.one("FloorDiv", *of, name="q")
        if cast:
            tf.multiply(w, tf.cast(quotient, "float32"), name="loss")
        else:
            times = tf.reshape(quotient, [1], name="times")
            tf.reduce_sum(tf.tile(tf.reshape(w, [1], name="r"), times, name="t"), name="loss")

    document = drawn(draw, "loss", ["w"], initial={"w": 1.0})
    return [f.text for f in findings(document, "integer-quotient")]


def test_a_half_that_is_0() -> None:
    (text,) = found(1, 2)
    assert "1 / 2 is 0 there, and not 0.5" in text


@pytest.mark.parametrize(("a", "b", "cast"), [(6, 2, True), (7, 2, False)])
def test_what_divides_or_is_a_size_is_left_alone(a: int, b: int, cast: bool) -> None:
    assert not found(a, b, cast)
