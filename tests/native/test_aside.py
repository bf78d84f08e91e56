"""Bytes that are copied past the caches are the same bytes, wherever they lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

native = pytest.importorskip(
    "gradstep_native", reason="the extension in native/ is not built: ./dev native"
)
MUCH = 1 << 18  # bytes from which on plans copy so


@given(
    st.one_of(st.integers(0, 300), st.integers(MUCH - 2, MUCH + 200), st.integers(0, 2 * MUCH)),
    st.integers(0, 130),
    st.integers(0, 130),
)
def test_they_are_copied_and_no_others(size: int, to: int, of: int) -> None:
    source = np.random.default_rng(size).integers(0, 256, size + 300, np.uint8)
    target = np.zeros(size + 300, np.uint8)
    want = target.copy()
    want[to : to + size] = source[of : of + size]
    native.copy_aside(target[to : to + size], source[of : of + size])
    assert target.tobytes() == want.tobytes()


def test_what_does_not_fit_is_refused() -> None:
    x = np.zeros(2 * MUCH, np.uint8)
    for into, of in ((x[:8], x[8:17]), (x[: MUCH + 1], x[MUCH - 1 : -2]), (x[1:9], x[:8])):
        with pytest.raises(ValueError, match="as many bytes"):
            native.copy_aside(into, of)
    x.flags.writeable = False
    with pytest.raises(TypeError):
        native.copy_aside(x[:8], np.ones(8, np.uint8))
    with pytest.raises(TypeError):
        native.copy_aside(np.zeros(16, np.uint8)[::2], np.ones(8, np.uint8))
