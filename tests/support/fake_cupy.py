"""The module `cupy` as the GPU backend uses it, on a device that does not exist.

Beside what fake_xp refuses, `take` wraps around, as CuPy's does. Integer indexing wraps there, too,
and raises here. What this takes, CuPy takes, and gives the same: `./dev gpu` holds it to that.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.support.fake_xp import FakeArray, FakeNamespace


class FakeCupy(FakeNamespace):
    """synchronised: how often the stream was waited for; used: bytes handed out by `empty`."""

    def __init__(self) -> None:
        self.synchronised = 0
        self.used = 0
        stream = SimpleNamespace(synchronize=self._synchronize)
        self.cuda = SimpleNamespace(get_current_stream=lambda: stream)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> FakeArray:
        array = np.empty(shape, dtype)
        array.reshape(-1).view(np.uint8).fill(0xA5)  # nobody may count on zeros
        self.used += array.nbytes
        return FakeArray(array)

    def take(
        self,
        a: FakeArray,
        indices: FakeArray,
        axis: int | None = None,
        out: FakeArray | None = None,
    ) -> FakeArray:
        picked = np.take(a.get(), indices.get(), axis=axis, mode="wrap")
        if out is None:
            return FakeArray(picked)
        out[...] = FakeArray(picked)
        return out

    def asnumpy(self, array: FakeArray) -> np.ndarray:
        return array.get()

    def get_default_memory_pool(self) -> Any:
        return SimpleNamespace(used_bytes=lambda: self.used)

    def _synchronize(self) -> None:
        self.synchronised += 1
