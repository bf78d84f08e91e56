"""Values as conditions and queries look at them: where they lie, without a copy of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.expression import PlaceName
from gradstep.core.debug.history.frame import Frame
from gradstep.core.graph.model import TensorRef

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class LookedValues:
    """Of a frame; to be done with before the debugger moves. read: gives the values of its run by
    their numbers, where nobody else has a part in them: of a thousand runs most is looked up so."""

    frame: Frame
    read: Callable[[int], Any] | None = None

    def value(self, ref: TensorRef) -> Array | None:
        if self.read is not None and not self.frame.loops:
            plan = self.frame.timeline.plan
            where = plan.tensors.get(ref)
            if type(where) is int and ref not in plan.alive:
                held = self.read(where) if plan.made_by[where] < self.frame.step else None
                if held is None or (type(held) is np.ndarray and held.dtype.kind != "O"):
                    return held
        return self.frame.look(ref)

    def gradient(self, ref: TensorRef, of: str = "") -> Array | None:
        held = self.frame.holder(ref, of)
        return None if held is None else self.value(held)

    def update(self, ref: TensorRef) -> Array | None:
        return self.frame.update(ref)

    def place(self, name: PlaceName) -> int | None:
        return self.frame.place(name)

    def before(self) -> LookedValues | None:
        frame = self.frame.before()
        return None if frame is None else LookedValues(frame)

    def written(self, ref: TensorRef) -> bool:
        return self.frame.written(ref)

    def gradient_written(self, ref: TensorRef, of: str = "") -> bool:
        return self.frame.gradient_written(ref, of)

    def skips(self, operation: str) -> bool:
        return self.frame.skips(operation)

    def lacks_gradient(self, ref: TensorRef, of: str = "") -> bool:
        return self.frame.lacks_gradient(ref, of)
