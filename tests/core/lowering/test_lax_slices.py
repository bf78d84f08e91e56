"""JAX's gather and scatter by dimension numbers: what their definition says, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.lowering.foreign_graph import ForeignRef
from tests.support.foreign_operation import computed, slope


@dataclass(frozen=True)
class Numbers:
    """Dimension numbers, and sizes: of the operand, of rows of indices, of slices."""

    lengths: tuple[int, ...]
    rows: tuple[int, ...]
    sizes: tuple[int, ...]
    told: tuple[int, ...]
    collapsed: tuple[int, ...]
    batch: tuple[int, ...]
    rows_batch: tuple[int, ...]
    offsets: tuple[int, ...]

    @property
    def kept(self) -> list[int]:
        return [i for i in range(len(self.lengths)) if i not in {*self.collapsed, *self.batch}]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of what gather gives, and of what scatter writes."""
        own, rows = iter(self.sizes[i] for i in self.kept), iter(self.rows)
        total = len(self.kept) + len(self.rows)
        return tuple(next(own if i in self.offsets else rows) for i in range(total))

    def places(self, indices: np.ndarray, mode: str) -> Iterator[tuple[Any, Any]]:
        """Of each element of `shape` the one of the operand that it belongs to; None for one of a
        slice that is not wholly inside, where that is dropped."""
        for at in np.ndindex(*self.shape):
            row = tuple(a for i, a in enumerate(at) if i not in self.offsets)
            first = np.zeros(len(self.lengths), int)
            first[[*self.told]] = indices[row]
            for mine, theirs in zip(self.batch, self.rows_batch, strict=True):
                first[mine] = row[theirs]
            last = np.array(self.lengths) - self.sizes
            moved = np.clip(first, 0, last)
            offset = np.zeros(len(self.lengths), int)
            offset[self.kept] = [a for i, a in enumerate(at) if i in self.offsets]
            inside = (moved == first).all() or mode == "clip"
            yield at, tuple(moved + offset) if inside else None


@st.composite
def numbers(draw: st.DrawFn) -> Numbers:
    rank = draw(st.integers(1, 4))
    lengths = tuple(draw(st.integers(1, 4)) for _ in range(rank))
    rows = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(0, 2)))]
    axes = [*draw(st.permutations(range(rank)))]
    batch = axes[:1] if rows and draw(st.booleans()) else []
    rows_batch = [draw(st.integers(0, len(rows) - 1))] if batch else []
    for mine, theirs in zip(batch, rows_batch, strict=True):
        rows[theirs] = lengths[mine]
    rest = axes[len(batch) :]
    told = rest[: draw(st.integers(0, len(rest)))]
    sizes = [1 if i in batch else draw(st.integers(1, n)) for i, n in enumerate(lengths)]
    collapsed = [i for i in sorted(rest) if sizes[i] == 1 and draw(st.booleans())]
    kept = rank - len(collapsed) - len(batch)
    offsets = draw(st.permutations(range(kept + len(rows))))[:kept]
    return Numbers(
        lengths, tuple(rows), tuple(sizes), tuple(told), tuple(collapsed), tuple(batch),
        tuple(rows_batch), tuple(sorted(offsets)),
    )  # fmt: skip


def drawn(numbers: Numbers, seed: int, kind: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    """An operand, and indices, of which some are outside."""
    made = np.random.default_rng(seed)
    indices = made.integers(-1, 4, (*numbers.rows, len(numbers.told)))
    return made.integers(1, 9, numbers.lengths).astype(kind), indices.astype(np.int32)


@given(numbers(), st.integers(0, 99), st.sampled_from(["clip", "fill_or_drop"]))
def test_gather(numbers: Numbers, seed: int, mode: str) -> None:
    operand, indices = drawn(numbers, seed)
    wanted = np.full(numbers.shape, -7, np.float32)
    for at, place in numbers.places(indices, mode):
        if place is not None:
            wanted[at] = operand[place]
    [found] = computed(
        "lax.gather", {"operand": operand, "indices": indices}, wanted,
        offset_dims=[*numbers.offsets], collapsed_slice_dims=[*numbers.collapsed],
        start_index_map=[*numbers.told], slice_sizes=[*numbers.sizes],
        operand_batching_dims=[*numbers.batch],
        start_indices_batching_dims=[*numbers.rows_batch], mode=mode, fill_value=-7.0,
    )  # fmt: skip
    np.testing.assert_array_equal(found, wanted)


WRITTEN = {
    "scatter": lambda old, new: new,
    "scatter-add": lambda old, new: old + new,
    "scatter-sub": lambda old, new: old - new,
    "scatter_mul": lambda old, new: old * new,
    "scatter_min": min,
    "scatter_max": max,
}


@given(
    numbers(), st.integers(0, 99), st.sampled_from(["clip", "fill_or_drop"]),
    st.sampled_from(sorted(WRITTEN)),
)  # fmt: skip
def test_scatter(numbers: Numbers, seed: int, mode: str, kind: str) -> None:
    operand, indices = drawn(numbers, seed, "float64")
    updates = np.random.default_rng(seed + 1).integers(1, 9, numbers.shape).astype(np.float64)
    wanted = operand.copy()
    for at, place in numbers.places(indices, mode):
        if place is not None:
            wanted[place] = WRITTEN[kind](wanted[place], updates[at])
    given_ = {"operand": operand, "indices": indices, "updates": updates}
    args = {
        "update_window_dims": [*numbers.offsets], "inserted_window_dims": [*numbers.collapsed],
        "scatter_dims_to_operand_dims": [*numbers.told],
        "operand_batching_dims": [*numbers.batch],
        "scatter_indices_batching_dims": [*numbers.rows_batch], "mode": mode,
    }  # fmt: skip
    if kind == "scatter" and _meets(numbers, indices, mode):
        return  # which of them is there in the end, JAX does not say
    [found] = computed(f"lax.{kind}", given_, wanted, **args)
    np.testing.assert_array_equal(found, wanted)


def _meets(numbers: Numbers, indices: np.ndarray, mode: str) -> bool:
    """Whether two updates come to one place."""
    places = [place for _, place in numbers.places(indices, mode) if place is not None]
    return len({*places}) < len(places)


@given(numbers(), st.integers(0, 99), st.sampled_from(["clip", "fill_or_drop"]))
def test_of_what_is_written_to_one_place_the_last_stays(
    numbers: Numbers, seed: int, mode: str
) -> None:
    """And the gradient comes back to that alone; to the operand where nothing is written."""
    operand, indices = drawn(numbers, seed)
    updates = -np.random.default_rng(seed).integers(1, 9, numbers.shape).astype(np.float32)
    wanted, last = operand.copy(), {}
    for row in np.ndindex(*numbers.rows):  # in the order of the rows
        for at, place in numbers.places(indices, mode):
            own = tuple(a for i, a in enumerate(at) if i not in numbers.offsets)
            if place is not None and own == row:
                wanted[place], last[place] = updates[at], at
    given_ = {"operand": operand, "indices": indices, "updates": updates}
    args = {
        "update_window_dims": [*numbers.offsets], "inserted_window_dims": [*numbers.collapsed],
        "scatter_dims_to_operand_dims": [*numbers.told],
        "operand_batching_dims": [*numbers.batch],
        "scatter_indices_batching_dims": [*numbers.rows_batch], "mode": mode,
    }  # fmt: skip
    np.testing.assert_array_equal(computed("lax.scatter", given_, wanted, **args)[0], wanted)
    stays, untouched = np.zeros_like(updates), np.ones_like(operand)
    for place, at in last.items():
        stays[at], untouched[place] = 1, 0
    found = slope("lax.scatter", given_, wanted, "updates", **args)
    np.testing.assert_array_equal(found, stays)
    found = slope("lax.scatter", given_, wanted, "operand", **args)
    np.testing.assert_array_equal(found, untouched)


@pytest.mark.parametrize(("kind", "wanted"), [("float32", np.nan), ("int32", -(2**31)),
                                              ("uint8", 255), ("bool", True)])  # fmt: skip
def test_what_there_is_none_of(kind: str, wanted: float) -> None:
    """What JAX puts there, where nothing else is told."""
    x, at = np.zeros(2, kind), np.array([[5]], np.int32)
    [found] = computed(
        "lax.gather", {"operand": x, "indices": at}, np.zeros(1, kind), offset_dims=[],
        collapsed_slice_dims=[0], start_index_map=[0], slice_sizes=[1], mode="fill_or_drop",
    )  # fmt: skip
    np.testing.assert_array_equal(found, np.array([wanted], kind))


def test_what_was_not_inside_though_jax_took_it_for_granted() -> None:
    """What JAX gives on a CPU: the next is read, without a gradient, and nothing is written."""
    x, at = np.array([1, 2, 3], np.float32), np.array([[0], [5], [-1], [2]], np.int32)
    read = np.array([1, 3, 1, 3], np.float32)
    given_, args = {"operand": x, "indices": at}, {
        "offset_dims": [], "collapsed_slice_dims": [0], "start_index_map": [0],
        "slice_sizes": [1], "mode": "promise_in_bounds",
    }  # fmt: skip
    np.testing.assert_array_equal(computed("lax.gather", given_, read, **args)[0], read)
    by = slope("lax.gather", given_, read, "operand", **args)
    np.testing.assert_array_equal(by, [1, 0, 1])
    args = {
        "update_window_dims": [], "inserted_window_dims": [0],
        "scatter_dims_to_operand_dims": [0], "mode": "promise_in_bounds",
    }  # fmt: skip
    [found] = computed("lax.scatter-add", {**given_, "updates": read}, x, **args)
    np.testing.assert_array_equal(found, [2, 2, 6])


@given(st.integers(-3, 6), st.integers(-3, 6), st.integers(1, 3), st.integers(1, 4))
def test_slices_that_move_stay_inside(i: int, j: int, height: int, width: int) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    first = np.clip([i, j], 0, [3 - height, 4 - width])
    there = np.s_[first[0] : first[0] + height, first[1] : first[1] + width]
    starts = {"i": np.array(i, np.int32), "j": np.array(j, np.int32)}
    begin = [ForeignRef("i"), ForeignRef("j")]
    given = {"operand": x, **starts}
    [got] = computed(
        "lax.dynamic_slice", given, x[there], starts=begin, slice_sizes=[height, width]
    )
    np.testing.assert_array_equal(got, x[there])
    wanted, new = x.copy(), -np.ones((height, width), np.float32)
    wanted[there] = new
    [got] = computed("lax.dynamic_update_slice", {**given, "update": new}, wanted, starts=begin)
    np.testing.assert_array_equal(got, wanted)
