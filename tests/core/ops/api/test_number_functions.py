"""Functions of `tf` of one number at a time that choose their op, or build several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.each_case import each_of
from tests.support.interpret import evaluate


def built(function: Any, *inputs: Any) -> Tensor:
    builder = GraphBuilder()
    with builder.as_default():
        result: Tensor = function(*[tf.constant(np.asarray(x)) for x in inputs])
    return result


def computed(function: Any, *inputs: Any) -> Any:
    y = built(function, *inputs)
    return evaluate(y.builder.build(), [y.ref])[0]


def test_functions_choose_their_op_by_the_type() -> None:
    z, n, x = np.array([3 + 4j]), np.array([7], np.int32), np.array([-2.5])
    for function, given, op_type in (
        (tf.abs, z, "ComplexAbs"),
        (tf.abs, x, "Abs"),
        (tf.round, x, "Round"),
        (tf.round, n, "Const"),
        (tf.real, z, "Real"),
        (tf.real, x, "Const"),
        (tf.conj, x, "Const"),
        (tf.imag, z, "Imag"),
        (tf.angle, z, "Angle"),
    ):
        assert built(function, given).op.type == op_type
    assert computed(tf.angle, x) == np.pi
    assert computed(tf.imag, x) == 0
    assert computed(tf.truediv, n, n - 5).dtype == np.float64
    assert computed(tf.truediv, n.astype(np.int8), n.astype(np.int8)).dtype == np.float32
    assert computed(tf.div, n, n - 5).tolist() == [3]
    assert computed(tf.complex, x, x).tolist() == [-2.5 - 2.5j]
    assert computed(tf.math.reciprocal_no_nan, np.array([0.0, 4.0])).tolist() == [0, 0.25]
    assert computed(tf.to_int32, np.array([2.75, -2.75])).tolist() == [2, -2]
    assert built(tf.to_double, x).op.type == "Const"
    assert built(tf.to_float, x).op.name == "ToFloat"
    assert computed(tf.bitwise.bitwise_xor, n, n - 2).tolist() == [2]


def test_exclusive_or_is_made_of_four() -> None:
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    y = built(tf.logical_xor, a, b)
    assert (y.op.name, y.op.type) == ("LogicalXor", "LogicalAnd")
    assert evaluate(y.builder.build(), [y.ref])[0].tolist() == [False, True, True, False]


@each_of(
    ("dtype", "wanted"),
    [
        ("int8", [-128, 127, 2]),
        ("uint8", [0, 255, 2]),
        ("int32", [-(2**31), 2**31 - 128, 2]),
        ("uint32", [0, 2**32 - 256, 2]),
        ("int64", [-(2**63), 2**63 - 2**39, 2]),
        ("float16", [-65504, 65504, 2.5]),
    ],
)
def test_saturating_casts_stop_at_the_last_number(dtype: str, wanted: list[float]) -> None:
    x = np.array([-1e30, 1e30, 2.5], np.float32)
    found = computed(lambda t: tf.saturate_cast(t, dtype), x)
    assert found.dtype == np.dtype(dtype)
    assert found.tolist() == wanted
    assert computed(lambda t: tf.saturate_cast(t, "uint8"), np.array([-3, 999])).tolist() == [
        0,
        255,
    ]


def test_clip_by_value_is_a_maximum_of_a_minimum() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float64", (5,))
    y, other = tf.clip_by_value(x, 0.0, 1.0), tf.clip_by_value(x, 0.0, 1.0, name="mine")
    graph = builder.build()
    assert (y.op.name, y.op.type, other.op.name) == ("clip_by_value", "Maximum", "mine")
    assert graph["clip_by_value/Minimum"].type == "Minimum"
    with pytest.raises(ValueError, match="are incompatible"):
        tf.clip_by_value(x, np.zeros((2, 5)), 1.0)
