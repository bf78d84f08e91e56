"""The trace of a loop that has run: values of its iterations, for the backward pass."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.opaque_state import OpaqueState


class Trace(OpaqueState):
    """The value of a While's last output."""

    __slots__ = ()

    @property
    @abstractmethod
    def iterations(self) -> int:
        """How often the body ran."""

    @abstractmethod
    def read(self, tensor: TensorRef, iteration: int) -> Any:
        """The value that a tensor of the loop's graph had in an iteration; nobody writes to it."""
