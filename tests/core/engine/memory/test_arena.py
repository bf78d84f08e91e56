"""A copy of an arena holds its bytes: in memory of its own, or in what another copy had."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.engine.memory.arena import Arena
from gradstep.core.engine.memory.value_places import Slot
from gradstep.core.engine.numpy_backend import NumpyBackend


def bytes_of(arena: Arena) -> np.ndarray:
    kept: np.ndarray = arena.view(Slot(0, arena.nbytes, (arena.nbytes,), np.dtype(np.uint8)))
    return kept


@pytest.mark.parametrize("nbytes", [100, 1 << 20])  # few enough to be looked at soon, or not
def test_a_copy_is_written_over_another(nbytes: int) -> None:
    arena = Arena()
    arena.grow(nbytes, NumpyBackend())
    first = second = None
    for number in (1, 2):
        bytes_of(arena)[:] = number
        first, second = second, arena.copy(first)
    assert first is not None
    assert second is not None
    assert first is not second
    bytes_of(arena)[:] = 3
    third = arena.copy(first)
    assert third is first
    assert np.all(bytes_of(third) == 3)
    assert np.all(bytes_of(second) == 2)
    assert np.all(bytes_of(arena) == 3)


def test_memory_of_another_size_is_not_written_to() -> None:
    arena, other = Arena(), Arena()
    for each, nbytes in ((arena, 1 << 20), (other, 1 << 19)):
        each.grow(nbytes, NumpyBackend())
        bytes_of(each)[:] = 7
    bytes_of(arena)[:] = 8
    assert arena.copy(other) is not other
    assert np.all(bytes_of(other) == 7)
