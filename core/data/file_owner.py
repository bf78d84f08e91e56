"""Who has the files that data and typed values name, where they are not on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import numpy as np

from gradstep.core.graph.dtypes import TensorType


class FileOwner(Protocol):
    """Reads for others what a text names, without what is done to its rows."""

    def stamp(self, place: str) -> tuple[int, ...] | None:
        """As gradstep.core.data.data_stamp."""

    def rows(self, place: str, kind: TensorType) -> np.ndarray:
        """The array, for what takes `kind`. Raises GradstepError."""

    def value(self, place: str, kind: TensorType) -> tuple[np.ndarray, bool]:
        """As gradstep.core.data.value_text.read_file. Raises GradstepError."""


_owner: ContextVar[FileOwner | None] = ContextVar("files", default=None)


@contextmanager
def files_of(owner: FileOwner | None) -> Iterator[None]:
    """Inside, `owner` reads files of data; None: they are here."""
    token = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(token)


def file_owner() -> FileOwner | None:
    """Whom to ask; None where files are read here."""
    return _owner.get()
