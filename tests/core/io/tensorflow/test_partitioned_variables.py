"""Which variables are parts of which tensors, and which stretch each is."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from gradstep.core.io.checkpoint_files import CheckpointFolder
from gradstep.core.io.checkpoints.training_state import Checkpoint
from gradstep.core.io.tensorflow.partitioned_variables import (
    find_parts,
    joined_parts,
    part_slices,
    whole_name,
)
from gradstep.core.io.tensorflow.tensor_bundle import TensorBundle


def test_names_of_parts_and_of_their_slots() -> None:
    assert whole_name("a/v/part_3") == ("a/v", 3)
    assert whole_name("v/part_0/Adam_1") == ("v/Adam_1", 0)
    assert whole_name("v/party_0") is None
    names = ["v/part_0", "v/part_1", "v/part_1/Adam", "v/part_0/Adam", "w/part_1", "x/part_0", "y"]
    found = find_parts(names, {"v", "v/Adam", "w", "x", "x/part_0", "y"})
    assert found == {
        "v": ["v/part_0", "v/part_1"],
        "v/Adam": ["v/part_0/Adam", "v/part_1/Adam"],
    }, "of w the first part lacks, and x/part_0 is there by itself"


def test_more_than_ten_parts_come_in_their_order() -> None:
    names = [f"v/part_{number}" for number in (10, 2, *range(2), *range(3, 10))]
    assert find_parts(names, {"v"})["v"] == [f"v/part_{number}" for number in range(11)]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 2), st.data())
def test_parts_lie_one_behind_the_other(sizes: list[int], axis: int, data: st.DataObject) -> None:
    shape = [2, 3, 4]
    shape[axis] = sum(sizes)
    whole = np.arange(np.prod(shape)).reshape(shape)
    parts = np.split(whole, np.cumsum(sizes)[:-1], axis)
    slices = part_slices(whole.shape, [part.shape for part in parts])
    assert slices is not None
    assert all(np.array_equal(whole[s], p) for s, p in zip(slices, parts, strict=True))


def test_what_is_no_part() -> None:
    assert part_slices((4, 2), [(2, 2), (3, 2)]) is None
    assert part_slices((4, 2), [(2, 2), (2, 3)]) is None
    assert part_slices((4, 2), [(4,), (2,)]) is None
    assert part_slices((4,), [(2,), ()]) is None


def test_parts_are_joined_along_the_axis_along_which_they_fit() -> None:
    rows = {f"v/part_{i}": np.full((i + 1, 2), i, np.float32) for i in range(3)}
    columns = {f"w/part_{i}/Adam": np.full((2, i + 1), i, np.float32) for i in range(2)}
    lost = {"u/part_1": np.zeros(2, np.float32), "x": np.zeros(1, np.float32)}
    found = joined_parts({**rows, **columns, **lost})
    assert {*found} == {"v", "w/Adam"}
    np.testing.assert_array_equal(found["v"][:, 0], [0, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(found["w/Adam"][0], [0, 1, 1])
    assert not joined_parts({**rows, "v": np.zeros(3, np.float32)})


def test_a_checkpoint_has_parts_as_a_whole_too_and_gives_them_back(tmp_path: Path) -> None:
    rows = {f"v/part_{i}": np.full((i + 1, 2), i, np.float32) for i in range(3)}
    folder = CheckpointFolder(tmp_path / "model.ckpt", 2)
    path = folder.add(Checkpoint(3, 0.5, rows))
    assert TensorBundle(path).read("v").shape == (6, 2)
    newest = CheckpointFolder(tmp_path / "model.ckpt", 2).newest()
    assert newest is not None
    assert {*newest.variables} == {*rows}
