"""One branch of a cond while it is built.

What is read from outside comes in through a Switch, and what reads nothing waits for the branch's
pivot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gradstep.core.graph.model import TensorRef

if TYPE_CHECKING:
    from gradstep.core.ops.build.build_context import Context
    from gradstep.core.ops.build.builder import GraphBuilder, Tensor


class Branch:
    """pred: whether the cond takes its branch 1; pivot: the operation that is dead where it does
    not take this one, which is branch `index`; outer: the branch around it."""

    def __init__(
        self, builder: GraphBuilder, pred: Tensor, pivot: Tensor, index: int, outer: Context | None
    ) -> None:
        self._builder, self._pred, self._outer = builder, pred, outer
        self.pivot, self.index = pivot, index
        self.goes_round = outer is not None and outer.goes_round
        self._own: set[str] = {pivot.ref.op}
        self._brought: dict[TensorRef, Tensor] = {}

    def admitted(self, reader: str, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The tensors as operation `reader` of this branch may read them."""
        return [self.brought(tensor, f"{reader}/Switch") for tensor in tensors]

    def waits(self, inputs: Sequence[Tensor], controls: tuple[str, ...]) -> tuple[str, ...]:
        """The control inputs of an operation of this branch."""
        if inputs or not self._own.isdisjoint(controls):
            return controls
        return (*controls, self.pivot.ref.op)

    def brought(self, tensor: Tensor, name: str) -> Tensor:
        """`tensor` as it is seen in here; a Switch that is needed for that is called `name`, in
        full."""
        if tensor.ref.op in self._own:
            return tensor
        if tensor.ref not in self._brought:
            there = tensor if self._outer is None else self._outer.brought(tensor, name)
            self._brought[tensor.ref] = self._switched(there, name)
        return self._brought[tensor.ref]

    def take(self, name: str) -> None:
        """From here on operation `name` belongs to this branch, and to those around it."""
        self._own.add(name)
        if self._outer is not None:
            self._outer.take(name)

    def _switched(self, tensor: Tensor, name: str) -> Tensor:
        builder = self._builder
        kind = "RefSwitch" if tensor.type.ref else "Switch"
        with enter_branch(builder, None), builder.control_dependencies(None), builder.scope("/"):
            sides = builder.op(kind, tensor, self._pred, name=name)
        self.take(sides[0].ref.op)
        return sides[self.index]


@contextmanager
def enter_branch(builder: GraphBuilder, branch: Context | None) -> Iterator[None]:
    """Operations made inside belong to `branch`."""
    outer = builder.branch
    builder.branch = branch
    try:
        yield
    finally:
        builder.branch = outer
