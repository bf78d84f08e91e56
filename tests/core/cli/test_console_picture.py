"""What is drawn of a value that the console prints: no larger than a picture, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.cli.console.console_picture import HIGH, LONG, WIDE, picture_of
from gradstep.core.host.tensors.aggregate import NAN


@pytest.mark.parametrize(
    ("shape", "kind"),
    [((4,), "line"), ((1, 5), "line"), ((5, 1, 1), "line"), ((2, 3), "matrix"),
     ((8, 8, 3), "image"), ((1, 8, 8, 1), "matrix")],
)  # fmt: skip
def test_the_kind_follows_from_the_shape(shape: tuple[int, ...], kind: str) -> None:
    found = picture_of(np.ones(shape, np.float32))
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    "value", [np.float32(1), np.ones(3), np.array(["a"] * 9), np.ones((2,) * 4)]
)
def test_what_is_small_or_no_picture_is_not_drawn(value: np.ndarray) -> None:
    assert picture_of(np.asarray(value)) is None
    assert picture_of(None) is None


def test_of_a_large_one_nothing_that_sticks_out_is_lost() -> None:
    table = np.zeros((1000, 2000), np.float32)
    table[777, 1234], table[3, 5] = -50, np.nan
    found = picture_of(table)
    assert found is not None
    assert found.values.shape[0] <= HIGH
    assert found.values.shape[1] <= WIDE
    assert np.nanmin(found.values) == -50
    assert (found.kinds == NAN).any()
    line = picture_of(np.arange(100_000))
    assert line is not None
    assert line.values.shape[1] <= LONG
