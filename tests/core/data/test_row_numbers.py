"""Rows of which there are too many to write down: split and shuffled as few are, in no memory."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given

from gradstep.core.data import data_source as data_source_module
from gradstep.core.data import row_order as row_order_module
from gradstep.core.data.data_source import DataSource, split_rows
from gradstep.core.data.row_numbers import MANY, AllRows, SplitRows, holds
from gradstep.core.data.row_order import DrawnOrder, row_order
from gradstep.core.errors import GradstepError

COUNTS = st.integers(1, 3000)
SHARES = st.sampled_from([0.0, 0.001, 0.1, 1 / 3, 0.48])
HUGE = 419_430_400  # rows of 256 bytes in 100 GiB


@given(COUNTS, st.integers(0, 2**63 - 1), st.integers(0, 5))
@example(1, 0, 0)
@example(4096, 7, 0)
def test_an_order_that_is_not_written_down_has_each_row_once(
    count: int, seed: int, epoch: int
) -> None:
    order = DrawnOrder(count, seed, epoch)
    assert sorted(order[:].tolist()) == list(range(count))
    assert len(order) == count


@given(COUNTS, st.integers(0, 9), st.lists(st.integers(0, 10**6), max_size=20))
def test_places_are_asked_in_any_way(count: int, seed: int, drawn: Sequence[int]) -> None:
    places = np.array([place % count for place in drawn], np.int64)
    for rows in (DrawnOrder(count, seed, 1), AllRows(count), SplitRows(count, seed, (0.0,), 1)):
        whole = rows[: len(rows)]
        assert rows[places].tolist() == whole[places].tolist()
        assert rows[3:9].tolist() == whole[3:9].tolist()
        assert whole.dtype == np.int64


def test_a_drawn_order_is_the_same_on_every_machine() -> None:
    """Written down: what another release draws otherwise, a resumed run sees otherwise."""
    assert DrawnOrder(8, 7, 0)[:].tolist() == ORDERS[0]
    assert DrawnOrder(8, 7, 1)[:].tolist() == ORDERS[1]
    assert row_order(HUGE, 7, 0)[:3].tolist() == ORDERS[2]
    assert SplitRows(100, 7, (0.1,), 0)[:].tolist() == ORDERS[3]


ORDERS: list[list[int]] = [
    [7, 5, 6, 2, 3, 1, 4, 0],
    [5, 0, 4, 3, 2, 7, 1, 6],
    [117130034, 186240604, 372345367],
    [0, 29, 39, 46, 51, 52],
]


@pytest.mark.slow
def test_each_row_comes_to_each_place_alike() -> None:
    """Of 40 rows in 2,000 epochs; 50 are expected, and 5 deviations are 35."""
    orders = np.array([DrawnOrder(40, 3, epoch)[:] for epoch in range(2000)])
    met = np.array([np.bincount(place, minlength=40) for place in orders.T])
    assert abs(met - 50).max() < 37
    follows = np.bincount((orders[:, 1:] - orders[:, :-1]).ravel() % 40, minlength=40)[1:]
    assert abs(follows - 2000).max() < 5.5 * 2000**0.5, "neighbours are as far apart as any"


@given(COUNTS, SHARES, SHARES, st.integers(0, 9))
def test_parts_are_the_shares_of_every_stretch_in_the_order_of_the_data(
    count: int, validate: float, test: float, seed: int
) -> None:
    parts = [SplitRows(count, seed, (validate, test), part) for part in range(3)]
    rows = [part[:].tolist() for part in parts]
    assert sorted(itertools.chain(*rows)) == list(range(count))
    assert all(found == sorted(found) for found in rows)
    shared = count // 64 * 64
    assert [len(found) for found in rows[:2]] == [int(shared * validate), int(shared * test)]
    stretch = np.bincount(np.array(rows[0], np.int64) // 64, minlength=count // 64 + 1)
    assert (abs(stretch[: count // 64] - 64 * validate) <= 1).all()
    for number, part in enumerate(parts):
        assert holds(part, rows[number][:5])
        assert not holds(part, [rows[number - 1][0]]) if rows[number - 1] else True
        assert not holds(part, [count])
        assert not holds(part, [-1])


def test_a_split_goes_by_the_seed_and_is_no_pattern() -> None:
    first, other = (SplitRows(6400, seed, (0.25,), 0)[:] for seed in (1, 2))
    assert first.tolist() != other.tolist()
    places = np.bincount(first % 64, minlength=64)
    assert places.min() > 5  # of 25


def test_many_rows_take_no_memory() -> None:
    assert HUGE > MANY
    tracemalloc.start()
    train, held, tested = split_rows(HUGE, 0.2, 7, 0.1)
    assert (len(held), len(tested)) == (int(HUGE * 0.2), int(HUGE * 0.1))
    with pytest.raises(
        GradstepError, match=r"holding back 0\.99 of 419,430,400 rows leaves too few"
    ):
        split_rows(HUGE, 0.5, 7, 0.49)
    source = DataSource({}, train, 32, 7)
    last = source.batch_at(source.batches_per_epoch * 3 - 1)
    assert (last.epoch, last.number) == (2, source.batches_per_epoch - 1)
    assert holds(train, last.rows.tolist())
    assert not holds(held, last.rows[:1].tolist())
    assert np.ptp(last.rows) > HUGE / 4, "shuffled"
    plain = split_rows(HUGE, 0, 7)[0]
    assert DataSource({}, plain, 32).batch_at(5).rows.tolist() == list(range(160, 192))
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 4 << 20


@pytest.mark.parametrize("count", [300, 301])
def test_of_many_an_epoch_has_each_row_once_and_the_held_ones_never(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(row_order_module, "MANY", 10)
    monkeypatch.setattr(data_source_module, "MANY", 10)
    train, held, _ = split_rows(count, 0.2, 5)
    assert isinstance(train, SplitRows)
    source = DataSource({}, train, 7, 5)
    epochs = [
        np.concatenate(
            [
                source.batch_at(e * source.batches_per_epoch + i).rows
                for i in range(source.batches_per_epoch)
            ]
        )
        for e in range(2)
    ]
    for rows in epochs:
        assert sorted([*rows, *held[:]]) == list(range(count))
    assert epochs[0].tolist() != epochs[1].tolist()
