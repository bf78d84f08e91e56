"""Tensors on the wire, and the numbers that describe them."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from gradstep.core.graph.model import TensorRef
from gradstep.core.host.tensor_reads import read
from gradstep.core.host.tensor_statistics import summarize
from gradstep.core.protocol.messages import Read
from gradstep.core.protocol.tensor_bytes import unpack
from tests.support.drawn_arrays import number_arrays

arrays = number_arrays(npst.array_shapes(min_dims=0, min_side=0))


def frame(array: np.ndarray | None) -> Any:
    """Every tensor is `array`."""
    return Mock(
        look=Mock(return_value=array),
        dead=Mock(return_value=None),
        state=Mock(return_value=None),
        is_dropped=Mock(return_value=False),
    )


@given(arrays, st.sampled_from("CF"), st.integers(0, 20), st.integers(0, 20))
def test_the_part_that_was_asked_for_arrives_bit_by_bit(
    array: np.ndarray, order: str, offset: int, limit: int
) -> None:
    stored = np.array(array, order=order)
    request = Read(refs=["x:0"], offset=offset, limit=limit)
    values, buffers = read(request, lambda ref: True, frame(stored))
    [part] = values.parts
    assert (part.dtype, part.shape) == (array.dtype.name, list(array.shape))
    back = unpack(part, buffers)
    assert back.dtype == array.dtype
    assert back.tobytes() == array.ravel()[offset : offset + limit].tobytes()


def test_strings_arrive_as_bytes() -> None:
    array = np.array([b"a", "ü", b"\xff"], object)
    values, buffers = read(Read(refs=["s:0"]), lambda ref: True, frame(array))
    assert unpack(values.parts[0], buffers).tolist() == [b"a", "ü".encode(), b"\xff"]
    assert values.parts[0].stats is None


def test_what_is_not_there_says_why() -> None:
    known = {TensorRef("x"): None}
    values, buffers = read(Read(refs=["x", "y:1"]), known.__contains__, frame(None))
    assert [(part.ref, part.state) for part in values.parts] == [("x", "waiting"), ("y:1", "none")]
    assert buffers == ()
    assert unpack(values.parts[0], buffers).size == 0


@given(npst.arrays(st.sampled_from(["float32", "float64", "int32", "bool"]), npst.array_shapes()))
def test_statistics_are_those_of_the_finite_elements(array: np.ndarray) -> None:
    stats = summarize(array)
    assert stats is not None
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    assert (stats.nans, stats.infs) == (np.isnan(wide).sum(), np.isinf(wide).sum())
    assert stats.zeros == (wide == 0).sum()
    norm = np.nan if stats.nans else math.hypot(*wide.ravel().tolist())
    assert stats.norm == pytest.approx(norm, rel=1e-6, nan_ok=True)
    if finite.size == 0:
        assert stats.minimum is None
        return
    assert (stats.minimum, stats.maximum) == (finite.min(), finite.max())


def test_huge_elements_have_a_finite_norm() -> None:
    stats = summarize(np.array([3e200, 4e200]))
    assert stats is not None
    assert stats.norm == pytest.approx(5e200)


def test_a_complex_modulus_that_overflows_is_infinite() -> None:
    stats = summarize(np.array([1.3e308 + 1.3e308j]))
    assert stats is not None
    assert stats.norm == math.inf
