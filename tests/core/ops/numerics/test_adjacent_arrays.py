"""Arrays one behind the other in memory as one vector."""

from __future__ import annotations

import numpy as np

from gradstep.core.ops.numerics.adjacent_arrays import view_adjacent


def test_neighbours_are_one_vector_of_the_same_memory() -> None:
    memory = np.arange(10, dtype=np.float32)
    a, b, c = memory[1:3], memory[3:7].reshape(2, 2), memory[7:8].reshape(())
    vector = view_adjacent([a, b, c])
    assert vector is not None
    np.testing.assert_array_equal(vector, memory[1:8])
    vector[-1] = 50
    assert c == 50


def test_what_lies_apart_or_is_of_another_kind_is_none() -> None:
    memory = np.arange(10, dtype=np.float32)
    a, b = memory[:2], memory[2:4]
    assert view_adjacent([b, a]) is None
    assert view_adjacent([a, memory[3:5]]) is None
    assert view_adjacent([a, b.view(np.int32)]) is None
    assert view_adjacent([a, memory[2:8:2]]) is None
    assert view_adjacent([a, memory.copy()[2:4]]) is None
    assert view_adjacent([memory, memory]) is None
