"""Many rows brought into few places, with no more than NumPy and CuPy share."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core import native_extension
from gradstep.core.ops.numerics import row_updates
from tests.support import fake_xp
from tests.support.each_case import each_of

KINDS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 complex64".split()


@each_of("kind", KINDS)
def test_rows_of_every_element_type_are_added_as_a_gpu_can(kind: str) -> None:
    values = np.array([1, 0, 1, 1], kind)
    put = fake_xp.put
    total = put(np.zeros(2, kind))
    found = row_updates.add_rows(fake_xp.xp, total, put(values), put(np.array([0, 1, 0, 0]))).get()
    assert found.dtype == kind
    assert found.tolist() == ([True, False] if kind == "bool" else [3, 0])


def test_wide_integers_are_added_exactly() -> None:
    big = np.array([2**62, 1, -(2**63)])
    found = row_updates.sum_rows(np, big, np.zeros(3, np.int64), None, 1)
    assert found.tolist() == [2**62 + 1 - 2**63]


@each_of("count", [1, 2, 3, 7, 64, 65])
def test_combining_rows_takes_in_each_once(count: int) -> None:
    rng = np.random.default_rng(count)
    places, values = rng.integers(0, 4, count), rng.uniform(0.5, 2, (count, 2))
    wanted = np.ones((4, 2))
    np.multiply.at(wanted, places, values)
    found = row_updates.combine_rows(np, "multiply", np.ones((4, 2)), values, places)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_of_rows_for_one_place_the_last_is_written() -> None:
    found = row_updates.write_rows(np, np.zeros(3), np.arange(1.0, 6.0), np.array([2, 0, 2, 0, 2]))
    assert found.tolist() == [4, 0, 5]


def test_on_a_device_nobody_asks_how_many_rows_there_are() -> None:
    xp, put = fake_xp.xp, fake_xp.put
    values, places = np.arange(1.0, 6.0), np.array([2, 0, 2, 0, 2])
    before = fake_xp.FakeArray.host_reads
    written = row_updates.write_rows(xp, put(np.zeros(3)), put(values), put(places))
    product = row_updates.combine_rows(xp, "multiply", put(np.ones(3)), put(values), put(places))
    assert fake_xp.FakeArray.host_reads == before
    assert written.get().tolist() == [4, 0, 5]
    assert product.get().tolist() == [8, 1, 15]


@given(
    st.sampled_from(["float32", "float64", "complex64", "int16", "bool"]),
    st.sampled_from([(), (3,), (2, 5), (0,)]),
    st.integers(0, 40),
    st.integers(0, 9),
    st.booleans(),
    st.integers(0, 99),
)
def test_the_extension_changes_no_bit(
    dtype: str, inner: tuple[int, ...], n: int, count: int, drops: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=(n, *inner)) * 1000).astype(dtype)
    places = rng.integers(0, max(count, 1), n)[: n if count else 0]
    values, dropped = values[: len(places)], rng.random(len(places)) < 0.3
    start = (rng.normal(size=(*inner, count)) * 1000).astype(dtype).T
    if len(inner) == 2:
        start = start.swapaxes(1, 2)

    def results() -> list[np.ndarray]:
        total = start.copy("C")
        return [
            row_updates.sum_rows(np, values, places, dropped if drops else None, count),
            row_updates.add_rows(np, start.copy("F"), values, places),
            row_updates.add_rows(np, total, values, places),
        ]

    with patch.object(native_extension, "add_rows", lambda *arrays: False):
        wanted = results()
    for found, want in zip(results(), wanted, strict=True):
        assert (found.dtype, found.shape) == (want.dtype, want.shape)
        assert found.tobytes() == want.tobytes()
