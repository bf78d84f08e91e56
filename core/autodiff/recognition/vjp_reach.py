"""Which VJPs of an imported graph can read the cotangents that arrive at an operation."""

from __future__ import annotations

from gradstep.core.autodiff.recognition.gradient_scope import GradientScope
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes


class Reach:
    """Of one gradient scope. types: of all tensors of its graph."""

    def __init__(self, scope: GradientScope, types: TensorTypes) -> None:
        self._scope, self._types = scope, types
        self._behind: dict[str, frozenset[str]] = {}

    def is_like(self, a: TensorRef, b: TensorRef) -> bool:
        """Whether the one can be the gradient of the other, as far as their types say."""
        mine, its = self._types.get(a), self._types.get(b)
        if mine is None or its is None:
            return False
        handle = DType.RESOURCE in (mine.dtype, its.dtype)  # which is shaped like its variable
        if mine.dtype is not its.dtype and not handle:
            return False
        try:
            mine.shape.merge(its.shape)
        except ValueError:
            return False
        return True

    def vjps_behind(self, name: str) -> frozenset[str]:
        """Its own, and those of what it reads and may pass it on to."""
        stack = [name]
        while stack:
            current = stack[-1]
            waiting = [other for other in self._passed_on(current) if other not in self._behind]
            if current in self._behind or not waiting:
                self._behind.setdefault(stack.pop(), self._joined(current))
            stack += waiting if current not in self._behind else []
        return self._behind[name]

    def _joined(self, name: str) -> frozenset[str]:
        own = frozenset((name,) if name in self._scope.vjps else ())
        return own.union(*(self._behind[other] for other in self._passed_on(name)))

    def _passed_on(self, name: str) -> list[str]:
        """The operations that make the inputs to which `name` may pass on what arrives."""
        op = self._scope.graph[name]
        return [ref.op for ref in op.inputs if ref is not None and self.is_like(op.output(), ref)]
