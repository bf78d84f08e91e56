"""Casts among all element types, and the same bits as other numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.promote_float64 import widen
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.interpret import evaluate
from tests.support.one_op import run

# TensorFlow 2.21 computed these.
TOO_LARGE = [np.nan, np.inf, -np.inf, 127.9, 128, -129, 255.5, 300, -1.7, 65535, 70000, 2**31 - 1]
TOO_LARGE += [2**31, -(2**31) - 1, 2**32 + 5, -(2**32), 2**63, -(2**63), 2**64, 1e30]
# One number at a time; TensorFlow's results for 8 and 16 bits depend on the place in the tensor.
LOW8 = [0, 0, 0, 127, -128, 127, -1, 44, -1, -1, 112, -1, 0, 0, 0, 0, 0, 0, 0, 0]
LOW16 = [0, 0, 0, 127, 128, -129, 255, 300, -1, -1, 4464, -1, 0, 0, 0, 0, 0, 0, 0, 0]
FITS = [127, 128, -129, 255, 300, -1, 65535, 70000, 2**31 - 1]
LEFT32, LEFT64 = -(2**31), -(2**63)
IN_64 = [2**31, -(2**31) - 1, 2**32 + 5, -(2**32), LEFT64, LEFT64, LEFT64, LEFT64]
CASTS = {
    np.int8: LOW8,
    np.int16: LOW16,
    np.int32: [LEFT32] * 3 + FITS + [LEFT32] * 8,
    np.int64: [LEFT64] * 3 + FITS + IN_64,
    np.uint8: [n % 2**8 for n in LOW8],
    np.uint16: [n % 2**16 for n in LOW16],
    np.uint32: [n % 2**32 for n in [0] * 3 + FITS + IN_64[:4] + [0] * 4],
    np.uint64: [n % 2**64 for n in [LEFT64] * 3 + FITS + IN_64],
}


@each_of("dtype", CASTS)
def test_what_an_integer_type_has_no_room_for(dtype: Any) -> None:
    x = np.array(TOO_LARGE, np.float64)
    target = DType.of(dtype)
    found = run("Cast", x, DstT=target)
    assert found.dtype == dtype
    assert found.tolist() == CASTS[dtype]
    assert run("Cast", x + 5j, DstT=target).tolist() == CASTS[dtype]


NUMERIC = [kind for kind in DType if kind not in (DType.STRING, DType.RESOURCE)]


@each_of("source", NUMERIC)
def test_casts_among_all_types(source: DType) -> None:
    """What fits comes through unchanged, cut off at the point; complex numbers lose i."""
    numbers = [0, 1] if source is DType.BOOL else [0, 1, 2.75, 100]
    x = np.array(numbers).astype(source.numpy)
    for target in NUMERIC:
        found = run("Cast", x, DstT=target)
        assert found.dtype == target.numpy
        np.testing.assert_array_equal(found, x.real.astype(target.numpy))


def test_half_and_unsigned_edges() -> None:
    half = np.array([65504, np.inf, -np.inf, np.nan], np.float16)
    assert run("Cast", half, DstT=DType.INT32).tolist() == [65504] + [LEFT32] * 3
    assert run("Cast", np.float32(2**63), DstT=DType.UINT64) == 2**63
    assert run("Cast", np.float64(2**64 - 2048), DstT=DType.UINT64) == 2**64 - 2048
    assert run("Cast", np.float64(70000), DstT=DType.FLOAT16) == np.inf
    assert run("Cast", np.array([-0.0, np.nan, 3j]), DstT=DType.BOOL).tolist() == [
        False,
        True,
        False,
    ]


def test_truncating_casts_round_to_zero() -> None:
    x = np.array([1.00000019, 1 + 2**-24 * 1.5, -1 - 2**-24 * 1.5, np.nan, np.inf, 1e300])
    to_nearest = run("Cast", x, DstT=DType.FLOAT32)
    cut = run("Cast", x, DstT=DType.FLOAT32, Truncate=True)
    wanted = [1.000000238418579, 1.0000001192092896, -1.0000001192092896, np.nan, np.inf, np.inf]
    np.testing.assert_array_equal(to_nearest, np.array(wanted, np.float32))
    wanted = [1.0000001192092896, 1, -1, np.nan, np.inf, np.inf]
    np.testing.assert_array_equal(cut, np.array(wanted, np.float32))
    np.testing.assert_array_equal(
        run("Cast", x + 0j, DstT=DType.COMPLEX64, Truncate=True).real, cut
    )
    assert run("Cast", np.float32(2049.9), DstT=DType.FLOAT16, Truncate=True) == 2048
    assert run("Cast", np.float32(7.9), DstT=DType.INT32, Truncate=True) == 7


def test_an_element_type_in_plain_text_is_one() -> None:
    """So the float64 reference finds it."""
    builder = GraphBuilder()
    builder.one("Cast", np.int32([3]), DstT="float32", name="y")
    builder.one("Shape", np.zeros((3,)), out_type="int64", name="size")
    with pytest.raises(GradstepError, match="must be an element type, not 'float65'"):
        builder.one("Cast", np.int32([3]), DstT="float65")
    graph = builder.build()
    assert isinstance(graph["y"].attrs["DstT"], DType)
    assert isinstance(graph["size"].attrs["out_type"], DType)
    wide = Session(widen(graph)).run(["y", "size"])
    assert [value.dtype for value in wide] == [np.float64, np.int64]


def test_gradients_through_casts() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "complex128", (2,))
    y = builder.one("Cast", x, DstT=DType.FLOAT32)
    result = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    feeds: dict[Any, Any] = {"x": np.array([1 + 2j, 3])}
    (gradient,) = evaluate(result.graph, [result.gradients[x.ref]], feeds)
    assert gradient.dtype == np.complex128
    assert gradient.tolist() == [1, 1]


def test_bits_as_other_numbers() -> None:
    assert run("Bitcast", np.float32(1), type=DType.UINT8).tolist() == [0, 0, 128, 63]
    pairs = np.array([[1, 2], [3, 4]], np.float32)
    assert run("Bitcast", pairs, type=DType.FLOAT64).tolist() == [
        2.000000473111868,
        512.0001225471497,
    ]
    assert run("Bitcast", np.zeros((0, 2), np.int8), type=DType.INT16).shape == (0,)
    assert run("Bitcast", np.zeros((2, 0), np.int16), type=DType.INT8).shape == (2, 0, 2)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 5), "Cannot bitcast from float32 to float64 due to shape. 5 does not match 2"),
        ((), "Shape must be at least rank 1 but is rank 0"),
    ],
)
def test_bits_that_do_not_add_up(shape: tuple[int, ...], message: str) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", shape)
    with pytest.raises(GradstepError) as caught:
        builder.one("Bitcast", x, type=DType.FLOAT64)
    assert caught.value.message == message
