"""What is seen of tensors of bfloat16: they are looked at, and added up, as float32."""

from __future__ import annotations

import io

import numpy as np
import pytest

from gradstep.core.graph.number_kinds import BFLOAT16, widened
from gradstep.core.host.tensor_statistics import difference, summarize
from gradstep.core.host.tensors.element_chunks import CHUNK
from gradstep.core.host.tensors.element_numbers import (
    deviation,
    extent,
    finite_of,
    histogram,
    percentiles,
)
from gradstep.core.host.tensors.tensor_difference import subtract
from gradstep.core.host.tensors.tensor_files import contents
from gradstep.core.io.native import npy
from gradstep.core.ops.numerics.finite_numbers import has_nonfinite
from gradstep.gui.model import number_text

NUMBERS = np.random.default_rng(4).normal(size=(3, 40)).astype(BFLOAT16)
ODD = np.array([1, np.nan, np.inf, -np.inf, 0, -2.5], BFLOAT16)


@pytest.mark.parametrize("array", [NUMBERS, ODD, np.resize(NUMBERS, CHUNK + 7)])
def test_they_are_summed_up_as_float32_is(array: np.ndarray) -> None:
    wide = widened(array)
    assert summarize(array) == summarize(wide)
    assert extent(array) == extent(wide)
    assert percentiles(array, [0, 12.5, 50, 99]) == percentiles(wide, [0, 12.5, 50, 99])
    assert histogram(array, 8, -3, 3) == histogram(wide, 8, -3, 3)
    assert deviation(array, 0.25) == deviation(wide, 0.25)
    assert finite_of(array.reshape(-1)).dtype == np.float32


def test_no_bits_are_warned_of() -> None:
    """NumPy does so of a NaN that signals, which a file may hold."""
    every = np.arange(1 << 16).astype(np.uint16).view(BFLOAT16)
    found = summarize(every)
    assert found is not None
    assert (found.nans, found.infs, found.zeros) == (2 * 127, 2, 2)
    assert has_nonfinite(every)
    texts = number_text.elements(every[0x7F7F:0x7F82])
    assert [text.strip() for text in texts] == ["3.390e38", "Inf", "NaN"]


def test_a_difference_is_not_rounded() -> None:
    one, other = np.array([256, 1], BFLOAT16), np.array([1, 256], BFLOAT16)
    for found in (subtract(one, other), difference(one, other)):
        assert found.dtype == np.float32
        assert found.tolist() == [255, -255]
    apart = difference(np.array([1 + 2**-7], BFLOAT16), np.array([300], BFLOAT16))
    assert apart.tolist() == [1 + 2**-7 - 300]
    whole = subtract(one, np.array([1, 2], np.int32))
    assert (whole.dtype, whole.tolist()) == (np.float64, [255, -1])


def test_they_are_saved() -> None:
    data = contents(NUMBERS, "x", ".npy")
    again = npy.read(io.BytesIO(data), len(data), "x.npy")
    assert again.dtype == BFLOAT16
    assert again.tobytes() == NUMBERS.tobytes()
    assert (
        np.load(io.BytesIO(data)).view(BFLOAT16).tobytes() == NUMBERS.tobytes()
    )  # as NumPy has it
    rows = contents(NUMBERS, "x", ".csv").decode().splitlines()
    read = np.array([[float(x) for x in row.split(",")] for row in rows]).astype(BFLOAT16)
    assert read.tobytes() == NUMBERS.tobytes()
    assert contents(ODD[4:], "x", "text") == b"array([0, -2.5], dtype=bfloat16)"
