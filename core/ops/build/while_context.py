"""A loop while it is being built.

What is read from outside comes in as an argument, and what reads nothing that changes waits for the
iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.build_context import Context
from gradstep.core.ops.build.builder import GraphBuilder, Tensor


class LoopBody:
    """The context of the functions that make one iteration. See Context.

    captured: tensors from outside that are read in here, in the order of the loop's captures.
    """

    def __init__(self, builder: GraphBuilder, outer: Context | None) -> None:
        self._builder, self._outer = builder, outer
        self.goes_round = True
        self._own: set[str] = set()
        self._brought: dict[TensorRef, Tensor] = {}
        self._variables: list[str] = []
        self._pivot = ""
        self.captured: list[Tensor] = []

    def variable(self, tensor: Tensor, shape: Shape) -> Tensor:
        """A loop variable that starts as `tensor`, of a shape that holds in every iteration."""
        made = self._argument(tensor, f"{self._builder.scope_name}/Merge", shape)
        self._variables.append(made.ref.op)
        self._pivot = self._pivot or made.ref.op
        return made

    def begin_body(self, first: Tensor) -> None:
        """What is made from here on runs only if the condition is true, as `first` does."""
        self._pivot = first.ref.op

    def finished(self, cond: Tensor, results: Sequence[Tensor]) -> Loop:
        """The loop of all that was made in here."""
        captures = [tensor.ref.op for tensor in self._brought.values()]
        return Loop(
            graph=self._builder.detach(self._own),
            variables=tuple(self._variables),
            captures=tuple(captures),
            cond=cond.ref,
            results=tuple(tensor.ref for tensor in results),
        )

    # -- as a Context ----------------------------------------------------------------------

    def admitted(self, reader: str, tensors: Sequence[Tensor]) -> list[Tensor]:
        return [self.brought(tensor, f"{reader}/Enter") for tensor in tensors]

    def waits(self, inputs: Sequence[Tensor], controls: tuple[str, ...]) -> tuple[str, ...]:
        inside = tuple(name for name in controls if name in self._own)
        fixed = {tensor.ref.op for tensor in self._brought.values()}
        if inside or any(tensor.ref.op not in fixed for tensor in inputs):
            return inside
        return (self._pivot,) if self._pivot else ()

    def brought(self, tensor: Tensor, name: str) -> Tensor:
        if tensor.ref.op in self._own:
            return tensor
        if tensor.ref not in self._brought:
            there = tensor if self._outer is None else self._outer.brought(tensor, name)
            made = self._argument(there, name, there.shape)
            self._brought[tensor.ref] = made
            self.captured.append(there)
        return self._brought[tensor.ref]

    def take(self, name: str) -> None:
        self._own.add(name)
        if self._outer is not None:
            self._outer.take(name)

    def _argument(self, tensor: Tensor, name: str, shape: Shape) -> Tensor:
        """What `tensor` is in here. name: in full."""
        builder, kind = self._builder, tensor.type
        builder.branch, here = None, builder.branch
        try:
            with builder.control_dependencies(None), builder.scope("/"):
                attrs = {"T": kind.dtype, "shape": shape, "ref": kind.ref}
                made = builder.one("_Arg", name=name, **attrs)
        finally:
            builder.branch = here
        self.take(made.ref.op)
        return made
