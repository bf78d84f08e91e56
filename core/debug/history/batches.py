"""What a program is fed that is other in each run: the batches of its data, by the run's number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef

Feeds = Mapping[TensorRef, np.ndarray]


class Batches(Protocol):
    """A function of the run's number alone: whichever way a run is come to, it is fed the same."""

    @property
    def types(self) -> Mapping[TensorRef, TensorType]:
        """What is fed, in any run; a size that differs from run to run is unknown."""
        ...

    @property
    def per_epoch(self) -> int:
        """Runs until all rows have been fed."""
        ...

    def feeds_at(self, run: int) -> Feeds:
        """What a run is fed. Raises GradstepError."""
        ...

    def words_at(self, run: int) -> str:
        """ "batch 17 of epoch 3, rows 512 to 543"."""
        ...

    def held_back(self) -> Iterable[tuple[Feeds, int]]:
        """The batches that nothing is trained on, and how many rows each has. Raises
        GradstepError."""
        ...
