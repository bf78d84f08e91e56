"""Work that several threads share: as many as a test wants, each as far as the others are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from gradstep.core.engine.calls import split_calls
from gradstep.core.engine.calls.bound_calls import Share
from gradstep.core.engine.calls.call_loop import do_nothing
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.thread_pool import VARIABLE, run_tasks


@contextmanager
def threads(count: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(VARIABLE, str(count))
        yield


@contextmanager
def in_lockstep() -> Iterator[None]:
    """What one thread writes that another reads, or writes as well, that one sees."""
    with patch.object(split_calls, "run_tasks", _by_turns):
        yield


def _by_turns(tasks: Sequence[Any]) -> None:
    if not all(isinstance(task, Share) for task in tasks):
        run_tasks(tasks)
        return
    with np.errstate(all="ignore"):
        for calls in zip_longest(*(task.calls for task in tasks), fillvalue=do_nothing):
            for one in calls:
                one()


@contextmanager
def used_memory() -> Iterator[None]:
    """The engine gets memory in which others have left what is no number."""
    with patch.object(NumpyBackend, "empty", _used):
        yield


def _used(backend: NumpyBackend, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    size = math.prod(shape) * np.dtype(dtype).itemsize
    found: np.ndarray = np.full(size, 255, np.uint8).view(dtype).reshape(shape)
    return found
