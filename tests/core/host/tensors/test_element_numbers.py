"""Statistics in pieces are those of the whole, whatever the pieces are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, from_dtype

from gradstep.core.host import tensor_statistics
from gradstep.core.host.tensors import element_chunks, element_numbers
from gradstep.core.host.tensors.element_chunks import chunks
from gradstep.core.host.tensors.element_numbers import (
    deviation,
    extent,
    finite_of,
    histogram,
    percentiles,
)

KINDS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "?")
SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight elements, so that a few are many."""
    for module in (element_chunks, element_numbers, tensor_statistics):
        monkeypatch.setattr(module, "CHUNK", 8)


@st.composite
def views(draw: st.DrawFn) -> np.ndarray:
    """Arrays of all kinds, in all orders in memory."""
    kind = np.dtype(draw(st.sampled_from(KINDS)))
    array = draw(arrays(kind, draw(SHAPES), elements=from_dtype(kind)))
    view = array.transpose(draw(st.permutations(range(array.ndim))))
    return view[:: draw(st.sampled_from([1, 2, -1]))]


@given(views())
def test_pieces_are_the_elements_in_their_order(view: np.ndarray) -> None:
    pieces = [piece.copy() for piece in chunks(view)]
    assert all(piece.size <= 8 for piece in pieces)
    found = np.concatenate(pieces) if pieces else np.empty(0, view.dtype)
    np.testing.assert_array_equal(found, view.ravel())


@given(views(), st.lists(st.floats(0, 100), min_size=1, max_size=4))
def test_percentiles_are_numpys(view: np.ndarray, percents: list[float]) -> None:
    finite = finite_of(view.ravel()).astype(np.float64)
    found = percentiles(view, percents)
    if not finite.size:
        assert found == []
        return
    with np.errstate(all="ignore"):
        expected = np.percentile(finite, percents)
    assert len(found) == len(percents)
    ordered = np.sort(finite)
    for value, wanted, percent in zip(found, expected, percents, strict=True):
        low = int(percent / 100 * (finite.size - 1))
        if np.isfinite(wanted):
            assert ordered[low] <= value <= ordered[min(low + 1, finite.size - 1)]
            np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=0)


@given(views())
def test_a_histogram_counts_every_finite_element(view: np.ndarray) -> None:
    if (ends := extent(view)) is None:
        assert finite_of(view.ravel()).size == 0
        return
    counts = histogram(view, 5, *ends)
    assert sum(counts) == finite_of(view.ravel()).size
    assert counts[0] > 0
    assert counts[-1] > 0 or ends[0] == ends[1]


@given(
    arrays(np.float32, st.integers(0, 40), elements=st.sampled_from([0, 1, -2.5, np.nan, np.inf]))
)
def test_statistics_of_pieces_are_those_of_the_whole(array: np.ndarray) -> None:
    whole, merged = tensor_statistics._summarize(array), tensor_statistics.summarize(array)
    assert merged is not None
    for name in whole.__struct_fields__:
        expected, found = getattr(whole, name), getattr(merged, name)
        if expected is None:
            assert found is None
        else:
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)


@given(arrays(np.float32, st.integers(1, 40), elements=st.floats(-100, 100, width=32)))
def test_the_deviation_is_numpys(array: np.ndarray) -> None:
    wide = array.astype(np.float64)
    assert deviation(array, float(wide.mean())) == pytest.approx(wide.std(), rel=1e-9, abs=1e-12)


def test_huge_numbers_have_a_histogram_and_percentiles() -> None:
    array = np.array([-1.7e308, 0, 1.7e308] * 4)
    assert histogram(array, 4, -1.7e308, 1.7e308) == [4, 0, 4, 4]
    assert percentiles(array, [0, 100]) == [-1.7e308, 1.7e308]
