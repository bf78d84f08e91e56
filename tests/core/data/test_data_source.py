"""A step's batch is a function of the step: each row once an epoch, the same bits everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradstep.core.data import row_order as row_order_module
from gradstep.core.data.array_files import Reading, map_array, read_array
from gradstep.core.data.built_in_sets import POEM, SETS
from gradstep.core.data.data_source import Batch, Column, DataSource, row_words, split_rows
from gradstep.core.data.row_order import row_order, sorted_order
from gradstep.core.data.transforms import (
    Cast,
    OneHot,
    Scale,
    Transform,
    read_transform,
    standardise,
)
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import TensorRef
from tests.support.each_case import each_of

X = TensorRef("x")


def source(
    count: int, batch: int, seed: int | None = None, drop_last: bool = False, array: object = None
) -> DataSource:
    rows = np.arange(count) if array is None else np.asarray(array)
    kind = TensorType(DType.of(rows.dtype), Shape((None, *rows.shape[1:])))
    return DataSource({X: Column(rows, kind)}, np.arange(count), batch, seed, drop_last)


SIZES = st.tuples(st.integers(1, 40), st.integers(1, 12)).filter(lambda pair: pair[1] <= pair[0])


@given(SIZES, st.none() | st.integers(0, 2**63 - 1), st.booleans(), st.integers(0, 5))
def test_an_epoch_has_each_row_once(
    sizes: tuple[int, int], seed: int | None, drop_last: bool, epoch: int
) -> None:
    count, batch = sizes
    made = source(count, batch, seed, drop_last)
    steps = range(epoch * made.batches_per_epoch, (epoch + 1) * made.batches_per_epoch)
    batches = [made.batch_at(step) for step in steps]
    assert [(b.epoch, b.number) for b in batches] == [(epoch, i) for i in range(len(batches))]
    taken = np.concatenate([b.rows for b in batches]).tolist()
    assert len({*taken}) == len(taken) == (count - count % batch if drop_last else count)
    fed = np.concatenate([made.feeds_at(step)[X] for step in steps])
    assert fed.tolist() == taken
    if seed is None:
        assert taken == sorted(taken)


@given(st.lists(st.integers(0, 200), min_size=1), st.integers(0, 99))
def test_any_step_at_any_time_is_fed_the_same(steps: Sequence[int], seed: int) -> None:
    """Forwards, backwards, again, and in another source that was made like it."""
    first, other = source(23, 4, seed), source(23, 4, seed)
    seen = {step: first.feeds_at(step)[X].tolist() for step in range(201)}
    for step in steps:
        sorted_order.cache_clear()
        assert other.feeds_at(step)[X].tolist() == seen[step]


def test_the_order_is_the_same_on_every_machine() -> None:
    """Written down: what another release draws otherwise, a resumed run sees otherwise."""
    assert row_order(8, 7, 0).tolist() == ORDERS[0]
    assert row_order(8, 7, 1).tolist() == ORDERS[1]
    assert row_order(8, 8, 0).tolist() == ORDERS[2]


ORDERS: list[list[int]] = [
    [4, 1, 7, 3, 6, 2, 5, 0],
    [7, 6, 4, 1, 0, 5, 3, 2],
    [5, 3, 7, 4, 1, 2, 0, 6],
]


def test_rows_whose_numbers_are_equal_stay_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting otherwise is the machine's own business."""
    drawn = np.arange(400, dtype=np.uint32).reshape(-1, 4) // 100
    monkeypatch.setattr(row_order_module, "blocks_at", lambda seeds, numbers: drawn)
    words = drawn.reshape(-1, 2).tolist()
    expected = sorted(range(200), key=lambda i: words[i])
    assert sorted_order.__wrapped__(200, 0, 0).tolist() == expected


def test_all_orders_come_alike() -> None:
    found = {tuple(row_order(3, 1, epoch).tolist()) for epoch in range(60)}
    assert len(found) == 6
    firsts = np.bincount([row_order(5, 3, epoch)[0] for epoch in range(1000)])
    assert firsts.min() > 150  # of 200; 4 deviations are 51


@given(st.integers(2, 60), st.floats(0.01, 0.9), st.integers(0, 9))
def test_a_split_has_each_row_on_one_side(count: int, share: float, seed: int) -> None:
    train, held, _ = split_rows(count, share, seed)
    assert sorted([*train, *held]) == list(range(count))
    assert len(held) == max(1, int(count * share))
    np.testing.assert_array_equal(split_rows(count, share, seed)[1], held)


@given(st.integers(4, 60), st.floats(0.01, 0.4), st.floats(0.01, 0.4), st.integers(0, 9))
def test_rows_to_test_on_are_others_and_leave_those_held_back_be(
    count: int, validate: float, test: float, seed: int
) -> None:
    train, held, tested = split_rows(count, validate, seed, test)
    assert sorted([*train, *held, *tested]) == list(range(count))
    assert len(tested) == max(1, int(count * test))
    np.testing.assert_array_equal(split_rows(count, validate, seed)[1], held)
    train, held, tested = split_rows(count, 0, seed, test)
    assert (len(held), len(train)) == (0, count - len(tested))


def test_a_batch_in_words() -> None:
    assert str(Batch(2, 16, np.arange(512, 544))) == "batch 17 of epoch 3, rows 512 to 543"
    assert row_words(np.array([4])) == "row 4"
    assert row_words(np.array([4, 2])) == "rows 4, 2"
    assert row_words(np.arange(9)[::-1]) == "rows 8, 7, 6, 5, 4, 3, …"


def test_what_is_wrong_with_a_row_is_said_with_the_rows() -> None:
    kind = TensorType(DType.FLOAT32, Shape((None, 3)))
    column = Column(np.array([0, 1, 7, 2]), kind, (OneHot(3),))
    made = DataSource({X: column}, np.arange(4), 2)
    assert made.feeds_at(0)[X].tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(GradstepError, match=r"rows 2 to 3 of x: 7 is no class of one_hot\(3\)"):
        made.feeds_at(1)
    with pytest.raises(GradstepError, match="there are 4 rows, and no batch of 5"):
        source(4, 5, drop_last=True)


@pytest.mark.parametrize("wrong", [[0, 3], [0, -1], [0.0, 1.5], [0.0, np.nan], ["a", "b"]])
def test_what_is_no_class(wrong: list[object]) -> None:
    with pytest.raises(GradstepError, match=f"{wrong[1] if wrong[0] == 0 else 'a'} is no class"):
        OneHot(3)(np.array(wrong))
    assert OneHot(3)(np.array([[1.0], [2.0]])).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_numbers_that_the_placeholder_lacks_are_refused() -> None:
    column = Column(np.array([0.0, 1.5]), TensorType(DType.INT32, Shape((None,))))
    assert column.take(np.array([0])).tolist() == [0]
    with pytest.raises(GradstepError, match=r"1\.5 at index \[0\] is not a whole number"):
        column.take(np.array([1]))


def test_rows_take_the_shape_and_type_of_the_placeholder() -> None:
    images = np.arange(2 * 64, dtype=np.uint8).reshape(2, 8, 8)
    for inner in ((64,), (8, 8, 1)):
        column = Column(images, TensorType(DType.FLOAT32, Shape((None, *inner))), (Scale(0.5),))
        found = column.take(np.array([1]))
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, images[1:].reshape(1, *inner) / 2)


@given(st.integers(2, 30), st.integers(0, 5))
def test_standardised_columns_have_mean_0_and_deviation_1(count: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(1e4, 3, (count, 2))
    rows[:, 1] = 5
    made = standardise(rows, np.arange(count), [Scale(2)])
    found = made(rows * 2)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(found.std(axis=0), [1, 0], atol=1e-9)


def transform(text: str) -> Callable[[np.ndarray], np.ndarray]:
    made = read_transform(text)
    assert isinstance(made, Cast)
    return made


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from(["int32", "float32", "bool"]))
def test_rows_are_cast(numbers: list[float], name: str) -> None:
    found = transform(f"cast({name})")(np.array(numbers))
    np.testing.assert_array_equal(found, np.array(numbers).astype(name), strict=True)


def test_texts_are_not_cast() -> None:
    with pytest.raises(GradstepError, match="takes numbers") as caught:
        transform("cast(float32)")(np.array(["a"], object))
    assert "classes(" in caught.value.hint


@each_of(
    ("text", "expected"),
    [("scale(1/16)", Scale(1 / 16)), (" scale(2, -1) ", Scale(2, -1)), ("one_hot(3)", OneHot(3)),
     ("standardise", "standardise"), ("standardise()", "standardise"),
     ("cast(float32)", Cast(DType.FLOAT32)), ("cast('int32')", Cast(DType.INT32))],
)  # fmt: skip
def test_transforms_are_written(text: str, expected: Transform | str) -> None:
    assert read_transform(text) == expected


@each_of(
    ("text", "said"),
    [("scal(2)", "no transform 'scal'"), ("scale(x)", "no number"), ("scale(1/0)", "no number"),
     ("scale()", "other arguments"), ("one_hot(2.5)", "no number of classes"),
     ("one_hot(a=2)", "other arguments"), ("cast(float23)", "no element type 'float23'"),
     ("cast()", "one element type"), ("cast(int32, int8)", "one element type"),
     ("cast(string)", "no element type 'string'"), ("", "no transform ''"),
     ("[1]", "no transform")],
)  # fmt: skip
def test_what_is_no_transform(text: str, said: str) -> None:
    with pytest.raises(GradstepError, match=said) as caught:
        read_transform(text)
    assert caught.value.hint


def test_rows_of_an_npy_file_stay_there(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (25_000_000, 1000)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 10**11)
    array = map_array("x.npy", Reading(tmp_path))
    made = DataSource({X: Column(array, TensorType(DType.FLOAT32))}, np.arange(64), 32)
    assert made.feeds_at(1)[X].shape == (32, 1000)
    with pytest.raises(GradstepError, match="there is no such file"):
        map_array("none.npy", Reading(tmp_path))


@each_of("name", SETS)
def test_built_in_sets_have_rows_of_both_parts(name: str) -> None:
    parts = SETS[name].parts
    assert len({len(array) for array in parts.values()}) == 1
    for part, array in parts.items():
        found, is_table = read_array(f"{name}:{part}", Reading())
        assert found is array
        assert not is_table
        assert not array.flags.writeable
        assert np.isfinite(array).all()
    with pytest.raises(GradstepError, match=f"{name} has no part named 'z'"):
        read_array(f"{name}:z", Reading())


def test_a_line_is_found_in_its_noise_and_classes_alternate() -> None:
    line, rings = SETS["line"].parts, SETS["circles"].parts
    slope, offset = np.polyfit(line["x"][:, 0], line["y"][:, 0], 1)
    assert slope == pytest.approx(2, abs=0.1)
    assert offset == pytest.approx(0.5, abs=0.1)
    radius = np.linalg.norm(rings["x"], axis=1)
    assert radius[rings["y"][:, 0] == 0].min() > radius[rings["y"][:, 0] == 1].max()


def test_a_text_is_its_windows_and_what_follows_each() -> None:
    poem = SETS["jabberwocky"]
    x, y, shifted = poem.parts.values()
    text = POEM.read_text().strip()
    letters = sorted({*text})
    assert f"the {len(letters)} different characters" in poem.note
    assert x.shape == (len(text) - 16, 16)
    assert "".join(letters[i] for i in x[0]) == "'Twas brillig, a"
    assert letters[y[0]] == "n"
    assert "".join(letters[i] for i in [*x[0], *y]) == text
    np.testing.assert_array_equal(shifted[:-1], x[1:])
    np.testing.assert_array_equal(shifted[:, -1], y)
