"""What the VJP of one operation gave: its gradients, the rule that was called, what was blocked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gradstep.core.autodiff.reverse.contributions import Contribution, Slices
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.ops.build.builder import Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices


@dataclass(slots=True)
class VjpResult:
    """The first five are what it adds to a Differentiation.

    custom: name of the gradient that was called, where it is not the operation's own.
    rule:   name of the gradient that was called; "" for none.
    scope:  of the operations that were made for it; "" where none were.
    made:   how many those are.
    sent:   what goes on over each wire of the operation.
    inside: of a loop, the VJPs of its iterations' operations.
    """

    gradients: dict[TensorRef, TensorRef] = field(default_factory=dict)
    slices: dict[TensorRef, Slices] = field(default_factory=dict)
    edges: dict[Edge, TensorRef] = field(default_factory=dict)
    blocked: dict[Edge, str] = field(default_factory=dict)
    custom: str = ""
    rule: str = ""
    scope: str = ""
    made: int = 0
    sent: tuple[Contribution | None, ...] = ()
    inside: Mapping[str, VjpResult] = field(default_factory=dict)


@dataclass(frozen=True)
class LoopGradients:
    """inputs: the gradient of each input of the loop; inside: the VJPs of its body's operations;
    zeros: the gradients of outputs that are asked for and lead to nothing."""

    inputs: Sequence[Tensor | IndexedSlices | None]
    inside: Mapping[str, VjpResult]
    zeros: Mapping[TensorRef, TensorRef]
