"""Windows and mirrors of images: by chance, and yet the same for a row in an epoch, always."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradstep.core.data.array_files import Reading
from gradstep.core.data.data_source import DataSource
from gradstep.core.data.drawn_transforms import Crop, Flip, image_axis, row_draws
from gradstep.core.data.opened_data import open_data
from gradstep.core.data.transforms import read_transform
from gradstep.core.document.dataset import Dataset
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import TensorRef

X, MASK = TensorRef("x"), TensorRef("mask")
ROWS = np.arange(5 * 6 * 7).reshape(5, 6, 7)


@given(
    st.integers(1, 8), st.integers(1, 9), st.integers(0, 2), st.integers(0, 99), st.integers(0, 9)
)
def test_a_window_is_a_part_of_the_padded_image(
    height: int, width: int, padding: int, seed: int, epoch: int
) -> None:
    crop = Crop(height, width, padding)
    if height > 6 + 2 * padding or width > 7 + 2 * padding:
        with pytest.raises(GradstepError, match=r"these are images of 6 by 7"):
            crop(ROWS)
        return
    padded = np.pad(ROWS, ((0, 0), (padding, padding), (padding, padding)))
    made = crop(ROWS, row_draws(np.arange(5), seed, epoch))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), (1, 2))
    for row in range(5):
        there = (windows[row] == made[row]).all(axis=(2, 3))
        assert there.any()
    top, left = (6 + 2 * padding - height) // 2, (7 + 2 * padding - width) // 2
    np.testing.assert_array_equal(crop(ROWS), padded[:, top : top + height, left : left + width])


def test_every_window_and_both_sides_come_alike() -> None:
    draws = row_draws(np.arange(9000), 3, 0)
    rows = np.broadcast_to(np.arange(9).reshape(3, 3), (9000, 3, 3))
    firsts = np.bincount(Crop(2, 2)(rows, draws)[:, 0, 0], minlength=9)
    assert (firsts[[0, 1, 3, 4]] > 2000).all()  # of 2250; 5 deviations are 205
    assert firsts.sum() == firsts[[0, 1, 3, 4]].sum()
    turned = Flip()(rows, draws)[:, 0, 0]
    assert {*turned.tolist()} == {0, 2}
    assert 4260 < (turned == 2).sum() < 4740  # of 4500; 5 deviations are 237


@pytest.mark.parametrize(
    ("shape", "axis"), [((1, 8, 9), 1), ((1, 8, 9, 3), 1), ((1, 3, 8, 9), 2), ((1, 4, 4, 4), 1)]
)
def test_where_images_have_their_channels(shape: tuple[int, ...], axis: int) -> None:
    rows = np.zeros(shape)
    assert image_axis(rows) == axis
    made = Crop(2, 2)(rows)
    assert made.shape[axis : axis + 2] == (2, 2)
    image = np.arange(np.prod(shape)).reshape(shape)
    turned = Flip()(image, np.full((1, 4), 2**32 - 1, np.uint32))
    np.testing.assert_array_equal(turned, np.flip(image, axis + 1))


def source(text: str, **more: object) -> tuple[DataSource, DataSource | None]:
    columns = {"x:0": f"@digits:images | {text}", "mask:0": f"@digits:images | {text}"}
    shape = Shape.of(None, *((6, 6) if "crop" in text else (8, 8)))
    kinds = {ref: TensorType(DType.FLOAT32, shape) for ref in (X, MASK)}
    dataset = Dataset(columns, batch=7, limit=40, validate=0.2, shuffle=5)
    opened = open_data(replace(dataset, **more), kinds, Reading())  # type: ignore[arg-type]
    return opened.training, opened.validation


TEXTS = ["crop(6, 6)", "flip()", "scale(1/16) | flip() | crop(6, 6, 1)", "crop(6, 6) | scale(2)"]


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 30), min_size=1, max_size=6), st.booleans())
def test_a_step_is_the_same_whenever_it_is_asked_for(
    text: str, steps: list[int], shuffled: bool
) -> None:
    more = {} if shuffled else {"shuffle": None}
    (one, held), (other, _) = source(text, **more), source(text, **more)
    seen = {step: one.feeds_at(step) for step in range(31)}
    for step in steps:
        found = other.feeds_at(step)
        assert found[X].tobytes() == seen[step][X].tobytes()
        assert found[MASK].tobytes() == found[X].tobytes()  # an image and its mask stay alike
    epoch = one.batches_per_epoch
    rows = np.argsort(one.batch_at(0).rows) if shuffled else slice(None)
    again = {row: x for s in range(epoch, 2 * epoch)
             for row, x in zip(one.batch_at(s).rows, one.feeds_at(s)[X], strict=True)}  # fmt: skip
    first = zip(one.batch_at(0).rows, seen[0][X], strict=True)
    assert any((again[row] != x).any() for row, x in first), rows
    assert held is not None
    np.testing.assert_array_equal(held.feeds_at(0)[X], held.feeds_at(held.batches_per_epoch)[X])


@given(st.integers(1, 32), st.integers(0, 2))
def test_what_a_row_gets_hangs_on_the_row_and_not_on_its_batch(batch: int, epoch: int) -> None:
    one, other = (source("flip() | crop(6, 6, 1)", batch=n)[0] for n in (32, batch))

    def rows(made: DataSource) -> dict[int, bytes]:
        steps = range(epoch * made.batches_per_epoch, (epoch + 1) * made.batches_per_epoch)
        seen = ((made.batch_at(step).rows, made.feeds_at(step)[X]) for step in steps)
        return {row: x.tobytes() for pair in seen for row, x in zip(*pair, strict=True)}

    assert rows(one) == rows(other)


def test_what_is_held_back_is_cut_in_the_middle_and_not_turned() -> None:
    _, held = source("flip() | crop(6, 6)")
    _, plain = source("flip()")
    assert held is not None
    assert plain is not None
    images = plain.feeds_at(0)[X]
    np.testing.assert_array_equal(held.feeds_at(0)[X], images[:, 1:7, 1:7])
    assert (plain.columns[X].array[plain.batch_at(0).rows] == images).all()


def test_they_are_written_and_refused_as_other_transforms() -> None:
    assert read_transform("crop(28, 24)") == Crop(28, 24)
    assert read_transform("crop(28, 24, 2)") == Crop(28, 24, 2)
    assert read_transform("flip()") == read_transform("flip") == Flip()
    for text in ("crop(28)", "crop(0, 2)", "crop(2.5, 2)", "crop(2, 2, -1)", "flip(1)", "flipp()"):
        with pytest.raises(GradstepError) as caught:
            read_transform(text)
        assert caught.value.hint
    with pytest.raises(GradstepError, match="crop and flip: these are rows of 1 axes"):
        Flip()(np.zeros((2, 64)))
    with pytest.raises(GradstepError, match=r"scale\(0\) makes all rows alike"):
        read_transform("scale(0)")
