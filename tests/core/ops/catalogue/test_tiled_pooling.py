"""Windows that tile the image take a way of their own, to the same bits."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradstep.core.ops.catalogue.neural import pooling_kernels
from gradstep.core.ops.catalogue.neural.sliding_windows import Axis
from gradstep.core.ops.catalogue.neural.tiled_pooling import tiles
from gradstep.core.ops.declare.parted_calls import make_calls
from tests.support.windows import run

_SIZES = st.tuples(st.integers(1, 3), st.integers(1, 4))  # windows of an axis, and elements of each
_FLOATS = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, 1.0, 2.0, -3.0)


def _axis(outputs: int, window: int) -> Axis:
    return Axis(outputs * window, window, window, 1, 0, outputs)


@given(
    st.tuples(_SIZES, _SIZES, _SIZES | st.just((20, 1))),
    st.integers(0, 3),
    st.sampled_from([np.float16, np.float32, np.float64, np.int8, np.int32]),
    st.randoms(use_true_random=False),
)
def test_the_bits_are_those_of_any_windows(
    sizes: Any, images: int, dtype: Any, random: Any
) -> None:
    axes = [_axis(*size) for size in sizes]
    assert tiles(axes)
    values = _FLOATS if np.dtype(dtype).kind == "f" else (-3, 0, 1, 1, 2)

    def drawn(shape: tuple[int, ...]) -> np.ndarray:
        count = int(np.prod(shape))
        return np.array([random.choice(values) for _ in range(count)], dtype).reshape(shape)

    x = drawn((images, *(axis.size for axis in axes)))
    g = drawn((images, *(axis.out for axis in axes)))
    fast = _both(x, g, axes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling_kernels, "tiles", lambda axes: False)
        slow = _both(x, g, axes)
    assert [a.tobytes() for a in fast] == [a.tobytes() for a in slow]


def _both(x: np.ndarray, g: np.ndarray, axes: Any) -> tuple[np.ndarray, np.ndarray]:
    y, dx = np.full_like(g, 7), np.full_like(x, 7)
    make_calls(pooling_kernels.largest(np, x, axes, y, np.empty), np.empty)
    make_calls(pooling_kernels.largest_back(np, x, g, axes, dx, np.empty), np.empty)
    return y, dx


def test_windows_that_overlap_or_leave_a_rest_do_not_tile() -> None:
    assert not tiles([Axis(4, 2, 1, 1, 0, 3)])
    assert not tiles([Axis(5, 2, 2, 1, 0, 2)])
    assert not tiles([Axis(3, 2, 2, 1, 1, 2)])


def test_such_windows_are_what_layers_have() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    attributes = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
    assert run("MaxPool", x, **attributes).reshape(-1).tolist() == [5, 7, 13, 15]
