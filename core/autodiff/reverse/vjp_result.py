"""What the VJP of one operation gave: its gradients, the rule that was called, what was blocked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gradstep.core.autodiff.reverse.contributions import Contribution, Rows, Slices
from gradstep.core.autodiff.reverse.gradient_end import GradientEnd
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices

NOTHING: Mapping[Any, Any] = MappingProxyType({})  # one for very many


@dataclass(slots=True)
class VjpResult:
    """What it adds to a Differentiation are gradients, slices, edges, blocked and custom. There is
    one for each operation, so that it keeps tuples, and makes dicts of them when asked.

    name:   of the operation.
    held:   of each of its outputs, the tensor that holds its gradient.
    sent:   the gradient that goes on over each wire of the operation.
    rows:   those of them that came as rows, by the wire's number.
    zeros:  gradients of other tensors: what a loop's outputs are called outside.
    custom: name of the gradient that was called, where it is not the operation's own.
    rule:   name of the gradient that was called; "" for none.
    scope:  of the operations that were made for it; "" where none were.
    made:   how many those are.
    inside: of a loop, the VJPs of its iterations' operations.
    """

    name: str
    held: tuple[TensorRef | None, ...] = ()
    sent: tuple[TensorRef | None, ...] = ()
    rows: Mapping[int, Rows] = field(default_factory=lambda: NOTHING)
    slices: Mapping[TensorRef, Slices] = field(default_factory=lambda: NOTHING)
    zeros: Mapping[TensorRef, TensorRef] = field(default_factory=lambda: NOTHING)
    blocked: Mapping[Edge, GradientEnd] = field(default_factory=lambda: NOTHING)
    custom: str = ""
    rule: str = ""
    scope: str = ""
    made: int = 0
    inside: Mapping[str, VjpResult] = field(default_factory=lambda: NOTHING)

    @property
    def gradients(self) -> dict[TensorRef, TensorRef]:
        """Those that a gradient reached -> the tensor that holds it."""
        name = self.name
        found = {TensorRef(name, i): held for i, held in enumerate(self.held) if held is not None}
        found.update(self.zeros)
        return found

    @property
    def edges(self) -> dict[Edge, TensorRef]:
        """The wires that a gradient goes on over -> the tensor that holds it."""
        name = self.name
        return {Edge(name, i): sent for i, sent in enumerate(self.sent) if sent is not None}

    def contribution(self, index: int) -> Contribution | None:
        """What goes on over wire number `index`."""
        dense = self.sent[index] if self.sent else None
        return None if dense is None else Contribution(dense, self.rows.get(index))


@dataclass(frozen=True)
class LoopGradients:
    """inputs: the gradient of each input of the loop; inside: the VJPs of its body's operations;
    zeros: the gradients of outputs that are asked for and lead to nothing."""

    inputs: Sequence[Tensor | IndexedSlices | None]
    inside: Mapping[str, VjpResult]
    zeros: Mapping[TensorRef, TensorRef]
