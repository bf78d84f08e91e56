"""Which steps have the same scratch memory."""

from __future__ import annotations

import numpy as np

from gradstep.core.engine.calls.scratch_memory import Scratch
from gradstep.core.engine.numpy_backend import NumpyBackend

_FLOAT = np.dtype(np.float32)


def test_steps_that_take_the_like_have_one_array() -> None:
    room = Scratch(NumpyBackend())
    first, second = room((4,), _FLOAT), room((4,), _FLOAT)
    assert not np.shares_memory(first, second)
    room.vacated()
    assert room((4,), _FLOAT) is first
    assert room((4,), _FLOAT) is second


def test_what_a_thread_made_larger_is_what_steps_have_afterwards() -> None:
    room = Scratch(NumpyBackend())
    room((4,), _FLOAT)
    larger = room.vacated().share(0)((8,), _FLOAT)
    assert np.shares_memory(room.vacated()((4,), _FLOAT), larger)
