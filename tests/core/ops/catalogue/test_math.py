"""Elementwise math where it is easy to get wrong: at the edges, with TensorFlow's own numbers."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import lookup
from tests.support.each_case import each_of
from tests.support.one_op import run, value_and_gradients

# TensorFlow 2.21 computed everything in this file: values, and the gradients of their sum (of
# complex ones, of the real parts plus twice the imaginary ones).
TABLE = Path(__file__).parents[3] / "data" / "tensorflow" / "math_special_values.json"
NUMBERS = json.loads(TABLE.read_text(encoding="utf-8"))
UNARY, BINARY, COMPLEX = (NUMBERS[part] for part in ("unary", "binary", "complex"))

# Where we are right on purpose (see the records' `differs`): op -> positions in the table.
BETTER = {"Erf": (1, 2)}


def reals(numbers: list[Any]) -> np.ndarray:
    return np.array([float(n) for n in numbers])


def either(numbers: list[Any]) -> np.ndarray:
    """Reals, or complex numbers kept as two lists."""
    if not isinstance(numbers[0], list):
        return reals(numbers)
    real, imag = (reals(part) for part in numbers)
    return np.array([complex(a, b) for a, b in zip(real, imag, strict=True)])


def same(found: Any, wanted: np.ndarray, but: Collection[int] = ()) -> None:
    keep = [i for i in range(wanted.size) if i not in but]
    found = np.asarray(found)
    if found.dtype.kind == "c":
        same(found.real, wanted.real)
        same(found.imag, wanted.imag)
        return
    np.testing.assert_allclose(
        found.astype(np.float64)[keep], wanted[keep], rtol=1e-12, atol=1e-14, equal_nan=True
    )


@each_of("type", [name for name in UNARY if name != "x"])
def test_special_values_of_one_number(type: str) -> None:
    value, (gradient,) = value_and_gradients(type, reals(UNARY["x"]))
    same(value, reals(UNARY[type]["value"]), BETTER.get(type, ()))
    wanted = UNARY[type]["gradient"]
    assert (gradient is None) == (wanted is None)
    if wanted is not None:
        same(gradient, reals(wanted))


@each_of("type", [name for name in BINARY if name != "x"])
def test_special_values_of_two_numbers(type: str) -> None:
    x, y = (m.ravel() for m in np.meshgrid(*[reals(BINARY["x"])] * 2, indexing="ij"))
    wanted = BINARY[type]["gradients"]
    if wanted == "LookupError":
        with pytest.raises(GradstepError, match=rf"No gradient defined .* {type}") as caught:
            value_and_gradients(type, x, y)
        assert caught.value.kind == "LookupError"
        return
    value, gradients = value_and_gradients(type, x, y)
    same(value, reals(BINARY[type]["value"]))
    for found, want in zip(gradients, wanted, strict=True):
        assert (found is None) == (want is None)
        if want is not None:
            same(found, reals(want))


@each_of("type", [name for name in COMPLEX if name != "x"])
def test_complex_values_and_gradients(type: str) -> None:
    x = either(COMPLEX["x"])
    inputs = [x, np.roll(x, 2)][: len(lookup(type).inputs)]
    attrs = {"Tout": DType.FLOAT64} if "Tout" in lookup(type).attrs else {}
    value, gradients = value_and_gradients(type, *inputs, **attrs)
    same(value, either(COMPLEX[type]["value"]))
    for found, want in zip(gradients, COMPLEX[type]["gradients"], strict=True):
        assert (found is None) == (want is None)
        if want is not None:
            same(found, either(want))


def test_complex_zero() -> None:
    """Where a complex number has no direction, its sign and the gradient of its size are 0."""
    zero = np.array([0j, -0.0j])
    size, (gradient,) = value_and_gradients("ComplexAbs", zero, Tout=DType.FLOAT64)
    same(size, np.zeros(2))
    same(gradient, np.zeros(2, complex))
    _, (gradient,) = value_and_gradients("Angle", zero, Tout=DType.FLOAT64)
    assert np.isnan(gradient).all()
    same(run("Sign", zero), np.zeros(2, complex))
    same(run("DivNoNan", zero + 1, zero), np.zeros(2, complex))
    same(run("MulNoNan", zero + np.inf, zero), np.zeros(2, complex))


def test_clip_where_numbers_are_missing() -> None:
    t = np.array([1, 5, -3, np.nan])
    same(run("ClipByValue", t, 0.0, 2.0), np.array([1, 2, 0, np.nan]))
    same(run("ClipByValue", t, 3.0, 2.0), np.array([3, 3, 3, np.nan]))
    same(run("ClipByValue", t, np.nan, 2.0), np.array([1, 2, -3, np.nan]))
    z = np.array([3 + 4j, -1 + 5j, 1 - 7j])
    same(run("ClipByValue", z, 1 + 2j, 2 + 3j), np.array([2 + 3j, 1 + 3j, 1 + 2j]))


def test_clip_gives_its_gradient_to_the_bounds_beyond_them() -> None:
    t, low, high = np.array([-1.0, 0, 0.5, 1, 2]), np.array(0.0), np.array(1.0)
    _, (to_t, to_low, to_high) = value_and_gradients("ClipByValue", t, low, high)
    assert to_t.tolist() == [0, 1, 1, 1, 0]
    assert (to_low.tolist(), to_high.tolist()) == (1, 1)


def test_clip_does_not_broadcast_its_bounds() -> None:
    builder = GraphBuilder()
    t, low = builder.placeholder("t", shape=(2, 3)), builder.placeholder("low", shape=(3,))
    with pytest.raises(GradstepError, match=r"^clip_value_min and clip_value_max must be either"):
        builder.one("ClipByValue", t, low, 1.0)


@each_of(
    ("type", "dtypes"),
    [
        ("Neg", ["uint8"]),
        ("Abs", ["complex64"]),
        ("Floor", ["complex64"]),
        ("Erf", ["int32"]),
        ("Sin", ["int64"]),
        ("Less", ["complex64", "complex64"]),
        ("Maximum", ["complex128", "complex128"]),
        ("BitwiseAnd", ["float32", "float32"]),
        ("IsNan", ["int32"]),
        ("Conj", ["float32"]),
        ("Complex", ["float16", "float16"]),
        ("AddV2", ["float32", "float64"]),
    ],
)
def test_types_that_an_op_does_not_take(type: str, dtypes: list[str]) -> None:
    builder = GraphBuilder()
    inputs = [builder.placeholder(f"x{i}", kind, (2,)) for i, kind in enumerate(dtypes)]
    with pytest.raises(GradstepError, match=dtypes[-1]) as caught:
        builder.one(type, *inputs)
    assert caught.value.kind == "ValueError"


def test_the_parts_of_complex_numbers_have_their_precision() -> None:
    builder = GraphBuilder()
    z = builder.placeholder("z", "complex128", (2,))
    with pytest.raises(GradstepError, match=r"^Real of complex128 is float64, not float32$"):
        builder.one("Real", z)
    assert builder.one("Real", z, Tout=DType.FLOAT64).dtype is DType.FLOAT64
