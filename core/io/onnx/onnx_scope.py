"""What the names in one graph of a model stand for: tensors, and what is known of them."""

from __future__ import annotations

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.onnx.onnx_names import Names
from gradstep.core.lowering.foreign_graph import ForeignNode, ForeignRef, ForeignTensor
from gradstep.core.lowering.onnx.onnx_table import INPUTS

CONSTANT = "onnx.Constant.13"
_SMALL = 1 << 16  # bytes; a constant of no more is made again in each graph that reads it


class OnnxScope:
    """outer: the graph around it, of which it may read all there is. nodes: what is in it.
    captured: what it reads from outside -> by what name it has that. is_inside: whether it is that
    of a branch or a loop."""

    def __init__(self, outer: OnnxScope | None, names: Names) -> None:
        self.outer, self._names, self.is_inside = outer, names, outer is not None
        self.nodes: list[ForeignNode] = []
        self.captured: dict[str, str] = {}
        self._found: dict[str, ForeignRef] = {}
        self._fixed: dict[str, np.ndarray] = {}

    def of_function(self) -> OnnxScope:
        """The names in a function that is called here, whose nodes come here."""
        inner = OnnxScope(None, self._names)
        inner.nodes, inner.is_inside = self.nodes, self.is_inside
        return inner

    def put(self, name: str, ref: ForeignRef, fixed: np.ndarray | None = None) -> None:
        """Raises GradstepError for a name that is there."""
        if name in self._found:
            raise bad(f"there are two tensors of the name '{name:.80}'")
        self._found[name] = ref
        if fixed is not None:
            self._fixed[name] = fixed

    def put_constant(self, name: str, array: np.ndarray) -> ForeignRef:
        """A constant as an operation of this graph."""
        own = self._names.unique(name, "Constant")
        dtype = "string" if array.dtype == object else str(array.dtype)
        told = ForeignTensor(dtype, array.shape)
        self.nodes.append(ForeignNode(own, CONSTANT, {INPUTS: [], "value": array}, (told,)))
        self.put(name, ForeignRef(own), array)
        return ForeignRef(own)

    def constant(self, name: str) -> np.ndarray | None:
        """What a tensor is, where that is a part of the model."""
        if name in self._found:
            return self._fixed.get(name)
        return None if self.outer is None else self.outer.constant(name)

    def find(self, name: str) -> ForeignRef | None:
        """What stands for a tensor here; None for one that there is not."""
        if name in self._found or self.outer is None:
            return self._found.get(name)
        if not self.outer.has(name):
            return None
        fixed = self.outer.constant(name)
        if fixed is not None and fixed.nbytes <= _SMALL:
            return self.put_constant(name, fixed)
        own = self._names.unique(name, "captured")
        self.captured[name] = own
        self._found[name] = ForeignRef(own)
        return self._found[name]

    def has(self, name: str) -> bool:
        return name in self._found or (self.outer is not None and self.outer.has(name))

    def ref(self, name: str, reader: str) -> ForeignRef | None:
        """The same for what `reader` takes; None where that is left out. Raises GradstepError for
        what there is not."""
        if not name:
            return None
        found = self.find(name)
        if found is None:
            raise bad(f"'{reader:.80}' takes '{name:.80}', which is not before it")
        return found


def bad(message: str) -> GradstepError:
    """The error of a model that does not hold together."""
    return GradstepError(message, kind="FileError", hint="export the model again")
