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
    made:   how many operations it made.
    sent:   what goes on over each wire of the operation.
    astray: whether a user's function made operations elsewhere than in the turn's scope.
    inside: of a loop, the turns of its iterations' operations.
    """

    gradients: dict[TensorRef, TensorRef] = field(default_factory=dict)
    slices: dict[TensorRef, Slices] = field(default_factory=dict)
    edges: dict[Edge, TensorRef] = field(default_factory=dict)
    blocked: dict[Edge, str] = field(default_factory=dict)
    custom: str = ""
    rule: str = ""
    made: int = 0
    sent: tuple[Contribution | None, ...] = ()
    astray: bool = False
    inside: Mapping[str, VjpResult] = field(default_factory=dict)


@dataclass(frozen=True)
class LoopGradients:
    """inputs: the gradient of each input of the loop; inside: the turns of its body."""

    inputs: Sequence[Tensor | IndexedSlices | None]
    inside: Mapping[str, VjpResult]
