"""Rows added in C have the bits of `numpy.add.at`, or are left to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

native = pytest.importorskip(
    "gradstep_native", reason="the extension in native/ is not built: ./dev native"
)
TYPES = ("float16", "float32", "float64", "complex64", "complex128", "int8", "uint16", "int32")


def drawn(dtype: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    """Of sizes so different that another order would round otherwise."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
    return numbers.astype(np.int64).astype(dtype) if dtype[0] in "iu" else numbers.astype(dtype)


@given(
    st.sampled_from(TYPES),
    st.sampled_from(["int32", "int64"]),
    st.integers(0, 200),
    st.integers(0, 40),
    st.integers(1, 30),
    st.integers(0, 1000),
)
def test_the_bits_are_those_of_numpy(
    dtype: str, kind: str, rows: int, width: int, count: int, seed: int
) -> None:
    values, total = drawn(dtype, (rows, width), seed), drawn(dtype, (count, width), seed + 1)
    places = np.random.default_rng(seed).integers(0, count, rows).astype(kind)
    want = total.copy()
    np.add.at(want, places, values)
    assert native.add_rows(total, values, places)
    assert total.tobytes() == want.tobytes()


@pytest.mark.parametrize("place", [-1, 3, 1 << 31, -(1 << 63)])
def test_a_place_that_there_is_not_is_left_alone(place: int) -> None:
    total = np.zeros((3, 2), np.float32)
    assert not native.add_rows(total, np.ones((2, 2), np.float32), np.array([1, place]))
    assert not total.any()


def test_what_has_another_layout_or_type_is_left_to_numpy() -> None:
    x, places = np.ones((4, 6), np.float32), np.array([0, 1, 1, 2])
    total = np.zeros((3, 6), np.float32)
    frozen = total.copy()
    frozen.flags.writeable = False
    for arguments in (
        (total.astype(np.float64), x, places),
        (total, x.astype(np.float64), places),
        (total, x, places.astype(np.int16)),
        (total, x, places.astype(np.uint64)),
        (total, x, places.astype(np.float32)),
        (total, x, places[::2]),
        (total, x[:3], places),
        (total, x[:, :5].copy(), places),
        (total[:, ::2], x[:, :3].copy(), places),
        (total, np.ones((4, 12), np.float32)[:, ::2], places),
        (np.zeros((6, 3), np.float32).T, x, places),
        (total.astype(bool), x.astype(bool), places),
        (frozen, x, places),
        (x[:3], x, places),
        (total, x.astype(">f4"), places),
        (total, x, list(places)),
        (total[0], x[0], places),
    ):
        assert not native.add_rows(*arguments)
    assert not total.any()
    with pytest.raises(TypeError):
        native.add_rows(total, x)
