"""What the iterator of a tf.data dataset holds: nothing, as Gradstep runs none."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.ops.state.opaque_state import OpaqueState


@dataclass(frozen=True)
class Iterator(OpaqueState):
    """An iterator that has no elements."""

    @property
    def nbytes(self) -> int:
        return 0

    def __str__(self) -> str:
        return "an iterator of tf.data, which Gradstep does not run"
